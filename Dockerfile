# The container of the action: regreen, git, Python and Node.js.
#
# Other toolchains:
#   FROM ghcr.io/regreen/regreen@sha256:<digest>       add what you need with apt-get, or
#   COPY --from=ghcr.io/regreen/regreen@sha256:<digest> /usr/local/bin/regreen /usr/local/bin/
# in an image that has them already (golang, maven, rust). The binary needs glibc 2.36 and nothing
# else; git, and the toolchain of the suite, are what it starts.
#
# Base images are chosen by arguments, so that a release pins them by digest:
#   --build-arg BUILDER=docker.io/library/rust:1.95-slim-bookworm@sha256:<digest>
#   --build-arg RUNTIME=docker.io/library/debian:bookworm-slim@sha256:<digest>
# The digest is what `docker buildx imagetools inspect NAME` prints under "Digest".
ARG BUILDER=docker.io/library/rust:1.95-slim-bookworm
ARG RUNTIME=docker.io/library/debian:bookworm-slim

FROM ${BUILDER} AS build
# cc builds libgit2, ring and the grammars; there is no OpenSSL to look for.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc g++ libc6-dev make pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The date of the commit: the same sources give the same binary.
ARG SOURCE_DATE_EPOCH=0
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} \
    CARGO_INCREMENTAL=0 \
    RUSTFLAGS="--remap-path-prefix=/src=. --remap-path-prefix=/usr/local/cargo=cargo"
COPY Cargo.toml Cargo.lock ./
COPY src ./src
COPY benches ./benches
# The demo is part of the program.
COPY examples/shop ./examples/shop
RUN cargo build --locked --profile dist --bin regreen \
 && install -D -m 0755 target/dist/regreen /out/regreen

FROM ${RUNTIME} AS runtime
ARG SOURCE_DATE_EPOCH=0
ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="regreen" \
      org.opencontainers.image.description="Brings a red test suite back to green, commit by commit" \
      org.opencontainers.image.source="https://github.com/regreen/regreen" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# `python` is what most commands say. Caches and logs go: they carry the time of the build.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      ca-certificates git nodejs npm python3 python3-coverage python3-pip python3-pytest python3-venv \
 && ln -s python3 /usr/bin/python \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /tmp/*
COPY --from=build /out/regreen /usr/local/bin/regreen
# Private checkouts: below a folder that the user of test code can pass.
RUN install -d -m 0755 /var/lib/regreen
ENV REGREEN_WORK_DIR=/var/lib/regreen \
    REGREEN_SANDBOX=other-user \
    LANG=C.UTF-8
# No USER: the runner mounts folders of another owner, and only root can hand test code over to a
# user that owns nothing. No HEALTHCHECK: this is a command, not a service.
ENTRYPOINT ["regreen"]
CMD ["action"]
