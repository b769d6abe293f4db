/** A Map or Set on the level of a module that functions write to is a cache without a bound, a metric and a way around it. */
import { expect, test } from 'vitest'
import { readSources } from './support/source-imports.ts'

/** Maps and sets of a file that change while the process runs, each with what keeps it small. Anything else is a declared cache. */
const changingCollections: Readonly<Record<string, string>> = {
  'src/contract/contract-worker.ts compiled': 'in a thread; the oldest is removed above a fixed number',
  'src/kernel/canonical-json.ts writtenNames': 'cleared at a fixed number',
  'src/kernel/database/failures.ts constraints': 'what modules declare when they are loaded',
  'src/kernel/database/pipeline.ts statementNames': 'by statement of the code',
  'src/modules/investigations/opening/trigger-scan.ts refusedUntil': 'removed by time, at each scan',
  'src/modules/mcp/readiness.ts compiledSchemas': 'by schema of the code',
  'src/modules/mcp/run-approval.ts running': 'approvals that are being executed, removed at their end',
  'src/modules/playbooks/check-playbook.ts validators': 'by schema of the code',
  'src/modules/work/clocks/calendar.ts formatters': 'by time zone that the runtime knows',
  'src/plugin/manifest.ts validators': 'by kind of plugin',
  'src/provider/check-manifest.ts validators': 'by schema of the code',
  'src/registry/adapters/dates.ts compiled': 'by date format of an adapter',
  'src/registry/adapters/gleif-tree.ts split_paths': 'by path of the code',
  'src/registry/types/type-worker.ts compiled': 'in a thread; the oldest is removed above a fixed number',
}

/** Names of the collections on the level of the module that a function of the file writes to. */
function listChangingCollections(text: string): string[] {
  const declared = text.matchAll(/^(?:export )?(?:const|let) (\w+)[^\n=]*=\s+new (?:Map|Set)\b/gm)
  return [...declared]
    .map(([, name = '']) => name)
    .filter((name) => new RegExp(`^[^\\S\\n]+.*\\b${name}\\s*\\.(?:set|add|delete|clear)\\(`, 'm').test(text))
}

test('a map or set of a module that changes at run time has a reason', () => {
  const changing = readSources('src').flatMap(({ file, text }) =>
    listChangingCollections(text).map((name) => `${file} ${name}`),
  )
  expect(changing.toSorted()).toEqual(Object.keys(changingCollections).toSorted())
})

test.each([
  ['const cache = new Map<string, number>()\nfunction f() {\n  cache.set(a, 1)\n}', ['cache']],
  ['export const seen: Set<string> = new Set()\nconst f = () =>\n  seen.add(a)', ['seen']],
  ['let cache =\n  new Map()\nfunction f() {\n  cache\n.clear()\n}', ['cache']],
  ['const fixed = new Map([[1, 2]])\nfixed.set(3, 4)\nconst f = () => fixed.get(1)', []],
  ['function f() {\n  const own = new Map()\n  own.set(1, 2)\n}', []],
])('of %j the collections %j change', (text, names) => {
  expect(listChangingCollections(text)).toEqual(names)
})
