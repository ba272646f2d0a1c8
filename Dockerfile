# graft on Debian 12. The build stages have compilers and Go; the image has the program and the libraries that it
# opens, and runs as an ordinary user. Build it with Docker's BuildKit, podman or buildah.
#
#   make image                  Debian's LibTorch, for the CPU
#   make image LIBTORCH=wheel   PyTorch's wheel, for NVIDIA GPUs
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" graft train job.toml   --gpus all uses GPUs
#
# make image is docker build with VERSION and REVISION of the checkout; DOCKER=podman takes another program.
# 'docker build --target builder' keeps the sources and compilers.

# Image of Debian 12; a name with a digest makes builds repeatable.
ARG BASE=debian:12-slim

FROM ${BASE} AS tools
# Mirror of Debian, such as http://HOST/debian; security updates come from the same name with -security. Empty: the
# mirror that the image names.
ARG APT_MIRROR=
# Go comes from the backports of the same mirror, and fetches the version that go.mod names.
RUN set -eu; sources=/etc/apt/sources.list.d/debian.sources; \
    if [ -n "$APT_MIRROR" ]; then \
      sed -i -e "s|^URIs: .*/debian/*$|URIs: $APT_MIRROR|" \
        -e "s|^URIs: .*/debian-security/*$|URIs: $APT_MIRROR-security|" $sources; \
    fi; \
    sed -i 's/^Suites: bookworm bookworm-updates$/& bookworm-backports/' $sources; \
    apt-get update -qq; \
    apt-get install -y -qq --no-install-recommends ca-certificates git make g++ python3 python3-venv; \
    apt-get install -y -qq --no-install-recommends -t bookworm-backports golang-go; \
    rm -rf /var/lib/apt/lists/*

FROM tools AS libtorch
# LIBTORCH is empty or wheel. TORCH and PIP_ARGS as scripts/wheel.sh says; TORCH_INDEX is the address of an index of
# wheels, empty for pip's own.
ARG LIBTORCH=
ARG TORCH=
ARG TORCH_INDEX=
ARG PIP_ARGS=
WORKDIR /usr/src/graft
COPY scripts/packages.sh scripts/wheel.sh scripts/
RUN set -eu; \
    case "$LIBTORCH" in \
    '') scripts/packages.sh build ;; \
    wheel) PIP_ARGS="${TORCH_INDEX:+--index-url $TORCH_INDEX }$PIP_ARGS" scripts/wheel.sh ;; \
    *) echo "unknown LIBTORCH $LIBTORCH; expected wheel, or nothing for Debian's" >&2; exit 1 ;; \
    esac; \
    rm -rf "$HOME/.cache" /var/lib/apt/lists/*

# What the program opens of a wheel, without headers and Python.
FROM libtorch AS libraries
RUN set -eu; mkdir /libraries; \
    for path in build/wheel/torch build/wheel/lib/python*/site-packages/torch/lib \
      build/wheel/lib/python*/site-packages/torch.libs build/wheel/lib/python*/site-packages/nvidia; do \
      if [ -e "$path" ]; then cp -a --parents "$path" /libraries/; fi; \
    done; \
    find /libraries -type d -name include -prune -exec rm -r {} +

FROM libtorch AS builder
# GOPROXY and GOSUMDB as Go reads them; empty for Go's own.
ARG GOPROXY=
ARG GOSUMDB=
ENV GOTOOLCHAIN=auto GOCACHE=/var/cache/go-build
COPY go.mod go.sum ./
RUN go mod download
# The library in C++ is built before the sources in Go are copied, which change more often.
ARG LIBTORCH=
COPY Makefile ./
COPY scripts scripts
COPY torch/graft.h torch/graft.h
COPY torch/csrc torch/csrc
RUN make library
COPY . .
# What 'graft version' prints. The folder .git is not copied.
ARG VERSION=devel
ARG REVISION=unknown
RUN --mount=type=cache,target=/var/cache/go-build \
    make install DESTDIR=/out PREFIX=/usr/local VERSION="$VERSION" REVISION="$REVISION"

FROM ${BASE} AS runtime
ARG APT_MIRROR=
ARG LIBTORCH=
# The folder /data is writable for any user, so that --user works without a volume too.
RUN set -eu; sources=/etc/apt/sources.list.d/debian.sources; \
    if [ -n "$APT_MIRROR" ]; then \
      sed -i -e "s|^URIs: .*/debian/*$|URIs: $APT_MIRROR|" \
        -e "s|^URIs: .*/debian-security/*$|URIs: $APT_MIRROR-security|" $sources; \
    fi; \
    libraries=libturbojpeg0; \
    if [ -z "$LIBTORCH" ]; then libraries="$libraries libtorch1.13 libopenblas0-openmp"; fi; \
    apt-get update -qq; \
    apt-get install -y -qq --no-install-recommends $libraries; \
    rm -rf /var/lib/apt/lists/*; \
    useradd --uid 1000 --home-dir /data --no-create-home graft; \
    install -d -m 1777 -o graft -g graft /data
COPY --from=libraries /libraries/ /usr/src/graft/
COPY --from=builder /out/ /
ARG VERSION=devel
ARG REVISION=unknown
LABEL org.opencontainers.image.title="graft" \
      org.opencontainers.image.description="Grows neural networks while they train" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV HOME=/data NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
USER 1000:1000
ENTRYPOINT ["graft"]
CMD ["--help"]
