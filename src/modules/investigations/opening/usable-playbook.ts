/** The playbook of an entry of a list, which nobody is there to correct when it is used. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { loadPlaybook, type playbookModel } from '#modules/playbooks/index.ts'

interface NamedPlaybook {
  readonly playbook: string
  /** `*`: of every type that has no entry of its own. */
  readonly subject_type: string
}

/** Undefined where none is in force that fits the subjects: one such entry must not stop the others. */
export async function findUsablePlaybook(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { playbook: key, subject_type }: NamedPlaybook,
): Promise<playbookModel.LoadedPlaybook | undefined> {
  const playbook = await findPlaybook(kernel, tx, key)
  return playbook && isFor(playbook, subject_type) ? playbook : undefined
}

/** Why no subject of the entry can be investigated by it; null: it can be used. */
export async function findPlaybookFault(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { playbook: key, subject_type }: NamedPlaybook,
): Promise<string | null> {
  const playbook = await findPlaybook(kernel, tx, key)
  if (!playbook) return `No version of the playbook ${key} is in force.`
  if (subject_type === '*' || isFor(playbook, subject_type)) return null
  return `The playbook ${key} is not for subjects of the type ${subject_type}.`
}

const isFor = ({ content }: playbookModel.LoadedPlaybook, subject_type: string): boolean =>
  content.subject_types.some((type) => type === subject_type)

async function findPlaybook(kernel: Capabilities<'caches'>, tx: Tx, key: string) {
  try {
    return await loadPlaybook(kernel, tx, key)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
