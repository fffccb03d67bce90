# Pinned with --build-arg BUN_IMAGE=oven/bun:1@sha256:… and the like: a tag may mean another image tomorrow.
ARG BUN_IMAGE=oven/bun:1
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${BUN_IMAGE} AS packages
WORKDIR /src
COPY package.json package-lock.json ./
# What the binary is made of; the tools for tests and checks stay outside.
RUN bun install --production --frozen-lockfile --ignore-scripts

FROM packages AS build
# The image has no repository to ask: --build-arg PLEXUS_COMMIT="$(git rev-parse HEAD)"
ARG PLEXUS_COMMIT
COPY . .
RUN bun scripts/build.ts

FROM packages AS claude
COPY scripts/fetch-claude.ts scripts/run.ts scripts/
RUN bun scripts/fetch-claude.ts /claude

# For a Claude Code that is started elsewhere, or brought along.
FROM ${DEBIAN_IMAGE} AS runtime
# Without an init as process 1, ended children would stay as zombies.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 1000 --home-dir /data --no-create-home --shell /bin/bash plexus \
  && install -d -o plexus -g plexus -m 0700 /data /workspace
COPY --from=build /src/dist/plexus /usr/local/bin/plexus
USER plexus
# Beside the data dir, which children may not read, and on the same volume.
ENV HOME=/data PLEXUS_DATA_DIR=/data/plexus CLAUDE_CONFIG_DIR=/data/claude PLEXUS_HOST=0.0.0.0
# Where children work; and /tmp, so that all else may be read-only.
WORKDIR /workspace
VOLUME ["/data", "/workspace", "/tmp"]
EXPOSE 4445
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["plexus", "healthcheck"]
ENTRYPOINT ["tini", "--", "plexus"]
CMD ["serve"]

FROM runtime AS full
COPY --from=claude /claude /usr/local/bin/claude
ENV DISABLE_AUTOUPDATER=1
