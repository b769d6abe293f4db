/** `reference-data index --shared`: builds missing search indexes, difference summaries and proof trees of long lists. */
import { versionStore } from '#modules/definitions/index.ts'
import { indexVersion, needsIndex } from '#modules/reference-data/index.ts'
import type { Command } from './command.ts'
import { listSharedLists, readScope, requireList, SHARED_OPTION, withSharedLists } from './shared-list.ts'

export const referenceDataIndex: Command = {
  about: `
An import builds the index of its own version. Lists that were imported by an earlier release have none until their next
import or this command; until then a search looks at every entry. Safe to repeat, and to stop at any time.

  npx probity reference-data index --shared`,
  options: { ...SHARED_OPTION, list: { type: 'string', value: 'KEY', about: 'only this list' } },
  run: async (invocation) => {
    const scope = readScope(invocation)
    const list_key = invocation.args.text('list')
    return withSharedLists(invocation, scope, async ({ read, write }) => {
      const lists = list_key ? [await read((tx) => requireList(tx, list_key))] : await read(listSharedLists)
      let indexed = 0
      for (const list of lists) {
        const head =
          list.head_version === 0
            ? undefined
            : await read((tx) => versionStore.findVersion(tx, list, list.head_version))
        if (!head || !needsIndex(head)) continue
        invocation.terminal.note(`${list.list_key}: ${head.entry_count.toLocaleString('en')} entries`)
        await indexVersion({ read, write, onBatch: async () => {} }, head)
        indexed++
      }
      invocation.terminal.out(
        `${indexed} of ${lists.length} lists are long enough to need an index; all of them have one.`,
      )
      return 0
    })
  },
}
