/** Who did something, as people are called at the time of asking. */
import type { Tx } from '../database/tx.ts'
import { listActorNames } from './queries.ts'

export async function nameActors(tx: Tx, actors: readonly (string | null)[]): Promise<Record<string, string>> {
  const wanted = [...new Set(actors.filter((actor) => actor !== null))]
  const names = await listActorNames(tx, wanted)
  return Object.fromEntries(names.map(({ actor, name }) => [actor, name]))
}

/** People by name; what the service did itself, by what it is called in the record. */
export const toName = (names: Readonly<Record<string, string>>, actor: string | null): string =>
  actor === null ? '–' : (names[actor] ?? actor.replace(/^(job|operator):.*$/, 'the service'))
