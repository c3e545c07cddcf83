CREATE TABLE shared (
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  value BLOB NOT NULL,
  seal BLOB NOT NULL,
  PRIMARY KEY (project, kind, name)
);
