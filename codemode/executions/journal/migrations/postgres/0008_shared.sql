CREATE TABLE shared (
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  value BYTEA NOT NULL,
  seal BYTEA NOT NULL,
  PRIMARY KEY (project, kind, name)
);
