/** What a serving role can do that may create temporary objects: triggers of its own, at any depth. */
import type pg from 'pg'

/** Statements of one transaction that end with `statement` in a trigger of a temporary table. */
export const toForgery = (statement: string, prepare: readonly string[] = []): readonly string[] => [
  'create temporary table mine (x integer) on commit drop',
  `create or replace function pg_temp.forge() returns trigger language plpgsql as $f$ begin ${statement}; return new; end $f$`,
  'create trigger forge before insert on mine for each row execute function pg_temp.forge()',
  ...prepare,
  'insert into mine values (1)',
]

/**
 * Runs the statement in a trigger of a temporary table, in a transaction that is committed. Before it the statements of `prepare`. Returns the
 * code of the error, or null.
 */
export async function forge(
  client: pg.Client,
  statement: string,
  prepare: readonly string[] = [],
): Promise<string | null> {
  try {
    for (const text of ['begin', ...toForgery(statement, prepare), 'commit']) await client.query(text)
    return null
  } catch (error) {
    await client.query('rollback')
    return (error as { code?: string }).code ?? String(error)
  }
}

/** Makes one of our trigger functions a trigger of a temporary table with the columns of `like`, and writes a row there. */
export const misuse = (client: pg.Client, of: { like: string; with: string; row: string; then?: string }) =>
  forge(client, 'perform 1', [
    `create temporary table copy (like app.${of.like}) on commit drop`,
    `create trigger misuse after insert or update or delete on copy for each row execute function app.${of.with}()`,
    `insert into copy ${of.row}`,
    ...(of.then ? [of.then] : []),
  ])
