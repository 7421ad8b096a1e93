# What jobs of the docker backend run in: every toolchain of sandbox/languages/*.toml and nothing of ours.
# Not built yet: no engine was at hand (docs/sandbox-docker.md).
#   docker build -f deploy/sandbox.Dockerfile -t verigym-sandbox deploy
# DEBIAN is a tag; `make pin-images` adds its digest.
ARG DEBIAN=12-slim
FROM debian:${DEBIAN}

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        bash \
        default-jdk-headless \
        g++ \
        gcc \
        gfortran \
        ghc \
        golang-go \
        iverilog \
        libc6-dev \
        lua5.4 \
        node-typescript \
        nodejs \
        ocaml-nox \
        perl \
        php-cli \
        python3 \
        python3-numpy \
        python3-pandas \
        python3-sympy \
        r-base-core \
        ruby \
        rustc \
        sqlite3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* \
    # No program of the image may change user. Jobs could not use it: no-new-privileges.
    && find / -xdev -perm /6000 -type f -exec chmod a-s {} +

# The backend sets the command, the user, the folder and every limit itself.
USER 65534:65534
WORKDIR /tmp
