package web

import "net/http"

// hostViews are the views of what the host does: runs, deliveries, policy, people, accounts, jobs, usage, status.
var hostViews = []view{
	{"GET /runs", "runs", site.runs},
	{"GET /runs/{run}", "run", site.run},
	{"POST /runs/{run}/cancel", "run", site.cancelRun},
	{"GET /deliveries", "deliveries", site.deliveries},
	{"GET /deliveries/{delivery}", "delivery", site.delivery},
	{"POST /deliveries/{delivery}/retry", "delivery", site.retryDelivery},
	{"POST /deliveries/{delivery}/drop", "delivery", site.dropDelivery},
	{"POST /deliveries/list/{delivery}/retry", "deliveries", site.retryDelivery},
	{"POST /deliveries/list/{delivery}/drop", "deliveries", site.dropDelivery},
	{"GET /policy", "policy", site.policy},
	{"GET /policy/tools", "policy", site.tryTools},
	{"GET /pairing", "pairing", site.pairing},
	{"POST /pairing/approve", "pairing", site.approve},
	{"POST /pairing/reject", "pairing", site.reject},
	{"POST /pairing/remove", "pairing", site.unpair},
	{"GET /channels", "channels", func(site, *http.Request) (any, error) { return nil, nil }}, // channels.js asks the API itself
	{"GET /usage", "usage", site.usage},
	{"GET /cron", "cron", pagesOf(jobPages.cron)},
	{"POST /cron", "cron", pagesOf(jobPages.addJob)},
	{"POST /cron/{job}/now", "cron", pagesOf(jobPages.runJobHere)},
	{"GET /cron/{job}", "job", pagesOf(jobPages.job)},
	{"POST /cron/{job}", "job", pagesOf(jobPages.editJob)},
	{"POST /cron/{job}/run", "job", pagesOf(jobPages.runJob)},
	{"POST /cron/{job}/switch", "job", pagesOf(jobPages.switchJob)},
	{"POST /cron/{job}/remove", "job", pagesOf(jobPages.removeJob)},
	{"GET /status", "status", site.status},
	{"POST /sign-out", "status", site.signOut},
}
