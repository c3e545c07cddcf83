-- readable by versions >= 4
CREATE TABLE kept_content (
  project TEXT NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  media_type TEXT NOT NULL,
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  kept_us INTEGER NOT NULL,
  expires_us INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (project, owner, id)
);
CREATE INDEX kept_content_by_end ON kept_content (expires_us);
