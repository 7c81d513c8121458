package postgres

// schemaVersion is the version of the tables below. A newer one is refused: it may
// hold charges that this code does not see.
const schemaVersion = 1

// codes keeps the authentication codes of the heads. Databases of before lack it and get
// it from its owner, with the rights that others have on the heads; the version stays,
// so that nothing else changes.
const codes = `
CREATE TABLE IF NOT EXISTS pawl_ledger.codes (dataset text COLLATE "C" PRIMARY KEY, code bytea NOT NULL);
DO $$ DECLARE g record; BEGIN
	FOR g IN SELECT DISTINCT grantee::text AS who, privilege_type AS what FROM information_schema.role_table_grants
		WHERE table_schema = 'pawl_ledger' AND table_name = 'heads' AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE') LOOP
		EXECUTE format('GRANT %s ON pawl_ledger.codes TO %s', g.what, CASE WHEN g.who = 'PUBLIC' THEN 'PUBLIC' ELSE quote_ident(g.who) END);
	END LOOP;
END $$;
`

// The tables stand in a schema of their own name and are always named in full. By
// the search path two people could meet two ledgers in one database, and the second
// would be an empty one.
//
// Records are append-only for everybody who goes through SQL, the steward's own
// role included, until somebody takes the triggers away; the hash chain convicts
// him. The head of each log is a row apart: without it a log cut at its end would
// look whole. Names are compared by bytes (COLLATE "C"), as the hashes are.
const tables = `
CREATE SCHEMA pawl_ledger;
CREATE TABLE pawl_ledger.version (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL);
CREATE TABLE pawl_ledger.secret (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), secret bytea NOT NULL);
CREATE TABLE pawl_ledger.records (
	dataset text COLLATE "C" NOT NULL,
	seq     bigint NOT NULL,
	version integer NOT NULL,
	kind    text NOT NULL,
	time    text NOT NULL,
	"user"  text NOT NULL,
	body    bytea NOT NULL,
	prev    bytea NOT NULL,
	hash    bytea NOT NULL,
	PRIMARY KEY (dataset, seq)
);
CREATE TABLE pawl_ledger.heads (dataset text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL, hash bytea NOT NULL);

CREATE FUNCTION pawl_ledger.refuse() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN RAISE EXCEPTION 'the ledger is append-only: % of %', TG_OP, TG_TABLE_NAME; END $$;
CREATE FUNCTION pawl_ledger.next_record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF new.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM pawl_ledger.records WHERE dataset = new.dataset) THEN
		RAISE EXCEPTION 'the ledger is append-only: record % is not the next one', new.seq;
	END IF;
	RETURN new;
END $$;
CREATE FUNCTION pawl_ledger.next_head() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF TG_OP = 'INSERT' AND new.seq <> 1 OR TG_OP = 'UPDATE' AND (new.seq <> old.seq + 1 OR new.dataset <> old.dataset) THEN
		RAISE EXCEPTION 'heads of the ledger only move on';
	END IF;
	RETURN new;
END $$;
-- A ledger takes the secret of another one only while it is empty.
CREATE FUNCTION pawl_ledger.adopt_secret() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF EXISTS (SELECT FROM pawl_ledger.records) THEN RAISE EXCEPTION 'the secret of a ledger never changes'; END IF;
	RETURN new;
END $$;

CREATE TRIGGER next_record BEFORE INSERT ON pawl_ledger.records FOR EACH ROW EXECUTE FUNCTION pawl_ledger.next_record();
CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON pawl_ledger.records EXECUTE FUNCTION pawl_ledger.refuse();
CREATE TRIGGER next_head BEFORE INSERT OR UPDATE ON pawl_ledger.heads FOR EACH ROW EXECUTE FUNCTION pawl_ledger.next_head();
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON pawl_ledger.heads EXECUTE FUNCTION pawl_ledger.refuse();
CREATE TRIGGER adopt_secret BEFORE UPDATE ON pawl_ledger.secret FOR EACH ROW EXECUTE FUNCTION pawl_ledger.adopt_secret();
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON pawl_ledger.secret EXECUTE FUNCTION pawl_ledger.refuse();
`

// prints keeps prints apart from records. Databases of before lack it and get it from its
// owner, with the rights that others have on the records; the version stays, so that
// nothing else changes.
const prints = `
CREATE TABLE IF NOT EXISTS pawl_ledger.prints (dataset text COLLATE "C" NOT NULL, identity bytea NOT NULL, print bytea NOT NULL,
	PRIMARY KEY (dataset, identity));
DO $$ DECLARE g record; BEGIN
	FOR g IN SELECT DISTINCT grantee::text AS who, privilege_type AS what FROM information_schema.role_table_grants
		WHERE table_schema = 'pawl_ledger' AND table_name = 'records' AND privilege_type IN ('SELECT', 'INSERT') LOOP
		EXECUTE format('GRANT %s ON pawl_ledger.prints TO %s', g.what, CASE WHEN g.who = 'PUBLIC' THEN 'PUBLIC' ELSE quote_ident(g.who) END);
	END LOOP;
END $$;
`
