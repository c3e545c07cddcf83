-- Only PostgreSQL uses these. They are here because a backup of either database is restored to either.
ALTER TABLE executions ADD COLUMN followed_until_us INTEGER NOT NULL DEFAULT 0;
CREATE TABLE allowances (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  next_us INTEGER NOT NULL,
  granted INTEGER NOT NULL,
  asked_us INTEGER NOT NULL,
  PRIMARY KEY (project, name)
);
