"""The console: pages in the browser, at `/console` of the HTTP server."""
