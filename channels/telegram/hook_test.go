package telegram_test

const hookSecret = "a-secret_of-the-webhook"
