# parley in a container: one static binary, no shell, not root. How to run it: docs/install.md.
#
#   docker build --build-arg VERSION=1.2.3 -t parley .

# The compiler runs on the builder's own processor, also when the image is for another one.
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /out/parley ./cmd/parley && \
    mkdir -m 0700 /out/state && mkdir -m 0755 /out/config

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/parley /usr/local/bin/parley
# Empty folders with the right owner: a new volume takes it over.
COPY --from=build --chown=65532:65532 /out/state /var/lib/parley
COPY --from=build --chown=65532:65532 /out/config /etc/parley
# The file is named, for `docker exec` too: in a folder that nobody trusted it would not count.
ENV PARLEY_STATE=/var/lib/parley PARLEY_CONFIG=/etc/parley/config.yaml HOME=/var/lib/parley
WORKDIR /etc/parley
USER 65532:65532
VOLUME ["/var/lib/parley"]
EXPOSE 18790
# The host answers on its socket. That a platform is away is no reason to start it again: that is what /readyz tells.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["/usr/local/bin/parley", "--quiet", "status", "--json"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/parley"]
CMD ["run"]
