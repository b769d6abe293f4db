/** The playbook of an entry of a list, which nobody is there to correct when it is used. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { loadPlaybook, type playbookModel } from '#modules/playbooks/index.ts'

/** Undefined where none is in force that fits the subjects: one such entry must not stop the others. */
export async function findUsablePlaybook(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { playbook: key, subject_type }: { readonly playbook: string; readonly subject_type: string },
): Promise<playbookModel.LoadedPlaybook | undefined> {
  try {
    const playbook = await loadPlaybook(kernel, tx, key)
    return playbook.content.subject_types.some((type) => type === subject_type) ? playbook : undefined
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
