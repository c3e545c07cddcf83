CREATE TABLE request_keys (
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  request_key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  execution TEXT NOT NULL,
  until_us BIGINT NOT NULL,
  PRIMARY KEY (project, owner, request_key)
);
CREATE INDEX request_keys_by_end ON request_keys (project, owner, until_us);
