# The server in a container: docker build -t codemode . && docker run -p 8080:8080 -v ./codemode.yaml:/etc/codemode/codemode.yaml:ro codemode
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/codemode && /opt/codemode/bin/pip install --no-cache-dir '.[tokens]'

FROM python:3.13-slim
# A user of its own: programs run under further ones, with fewer rights, that the sandbox takes itself.
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/codemode codemode
COPY --from=build /opt/codemode /opt/codemode
ENV PATH=/opt/codemode/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XDG_STATE_HOME=/var/lib/codemode/state \
    XDG_CACHE_HOME=/var/lib/codemode/cache
USER 10001
WORKDIR /etc/codemode
VOLUME /var/lib/codemode
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/livez', timeout=2)"]
ENTRYPOINT ["codemode"]
CMD ["serve", "--config", "/etc/codemode/codemode.yaml", "--host", "0.0.0.0", "--port", "8080"]
