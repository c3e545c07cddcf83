ALTER TABLE executions ADD COLUMN followed_until_us BIGINT NOT NULL DEFAULT 0;
CREATE FUNCTION codemode_signal() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN PERFORM pg_notify(TG_ARGV[0], NEW.id); RETURN NULL; END $$;
CREATE TRIGGER codemode_freed AFTER UPDATE OF status, server ON executions FOR EACH ROW
  WHEN (NEW.server = '' AND NEW.status IN ('queued', 'running')) EXECUTE FUNCTION codemode_signal('codemode_freed');
CREATE TRIGGER codemode_followed AFTER UPDATE OF status, server ON executions FOR EACH ROW
  WHEN (NEW.followed_until_us > 0) EXECUTE FUNCTION codemode_signal('codemode_followed');
CREATE TABLE allowances (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  next_us BIGINT NOT NULL,
  granted BIGINT NOT NULL,
  asked_us BIGINT NOT NULL,
  PRIMARY KEY (project, name)
);
