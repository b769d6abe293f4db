/** The shape of the source is kept by a test: arrows point down, SQL has one home, files stay readable. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { longFunctions, processMaps } from './support/architecture-exceptions.ts'
import { projectRoot } from './support/database.ts'
import { findNetworkAccess } from './support/network-access.ts'
import { listFunctions } from './support/source-functions.ts'
import { findCycles, readSources } from './support/source-imports.ts'

const sources = readSources('src')
const moduleOf = (file: string): string | undefined => /^src\/modules\/([^/]+)\//.exec(file)?.[1]
/** What knows lists, files and definitions, but no tenants, no database and no HTTP. */
const library = /^src\/(registry|decision|contract|provider|plugin|sandbox)\//
const order = modules.map(({ name }) => name)

describe('imports', () => {
  test('there is something to check', () => {
    expect(sources.length).toBeGreaterThan(60)
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(150)
  })

  test('the kernel imports only the kernel', () => {
    const wrong = sources
      .filter(({ file }) => file.startsWith('src/kernel/'))
      .flatMap(({ file, imports }) =>
        imports.filter((to) => !to.startsWith('src/kernel/')).map((to) => `${file} → ${to}`),
      )
    expect(wrong).toEqual([])
  })

  test('the libraries beside the kernel import only themselves and the kernel', () => {
    const libraries = sources.filter(({ file }) => library.test(file))
    expect(libraries.length).toBeGreaterThan(20)
    const wrong = libraries.flatMap(({ file, imports }) =>
      imports.filter((to) => !library.test(to) && !to.startsWith('src/kernel/')).map((to) => `${file} → ${to}`),
    )
    expect(wrong).toEqual([])
  })

  test('contracts know decisions and lists, lists know neither, and no library knows the database or HTTP', () => {
    const wrong = sources.flatMap(({ file, imports }) => {
      const forbidden = file.startsWith('src/sandbox/')
        ? /^src\/(registry|decision|contract|plugin)\/|^src\/kernel\/(database|http|job|request|route|kernel)\b/
        : file.startsWith('src/registry/')
          ? /^src\/(decision|contract|plugin)\//
          : file.startsWith('src/decision/')
            ? /^src\/(contract|kernel\/(database|http|job|request|route|kernel))\b/
            : /^src\/kernel\/(database|http|job|request|route|kernel)\b/
      if (!library.test(file)) return []
      const found = imports.filter((to) => forbidden.test(to))
      return found.map((to) => `${file} → ${to}`)
    })
    expect(wrong).toEqual([])
  })

  test('providers know neither lists nor decisions, and these know no providers', () => {
    const wrong = sources
      .filter(({ file }) => library.test(file))
      .flatMap(({ file, imports }) => {
        const forbidden = file.startsWith('src/provider/') ? /^src\/(registry|decision)\// : /^src\/provider\//
        return imports.filter((to) => forbidden.test(to)).map((to) => `${file} → ${to}`)
      })
    expect(wrong).toEqual([])
  })

  test('modules import the kernel, the libraries, themselves, and the interfaces of modules above them', () => {
    const wrong: string[] = []
    for (const { file, imports } of sources) {
      const from = moduleOf(file)
      if (!from) continue
      for (const to of imports) {
        if (to.startsWith('src/kernel/') || library.test(to) || moduleOf(to) === from) continue
        const other = moduleOf(to)
        const isInterface = other !== undefined && to === `src/modules/${other}/index.ts`
        if (!isInterface || order.indexOf(other) >= order.indexOf(from)) wrong.push(`${file} → ${to}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('modules name the capabilities they need and never receive the whole kernel', () => {
    const whole = /import (type )?\{[^}]*\b(type )?Kernel\b[^}]*\} from '#kernel\/kernel\.ts'/
    const modulesWithKernel = sources.filter(({ file, text }) => file.startsWith('src/modules/') && whole.test(text))
    expect(modulesWithKernel.map(({ file }) => file)).toEqual([])
    expect(sources.filter(({ text }) => whole.test(text)).map(({ file }) => file)).toContain('src/app/runtime.ts')
  })

  test('the application imports modules by their interfaces only', () => {
    const wrong = sources
      .filter(({ file }) => file.startsWith('src/app/'))
      .flatMap(({ file, imports }) =>
        imports.filter((to) => moduleOf(to) && !to.endsWith('/index.ts')).map((to) => `${file} → ${to}`),
      )
    expect(wrong).toEqual([])
  })

  test('no source imports tests or fixtures', () => {
    const wrong = sources.flatMap(({ file, imports, typeImports }) =>
      [...imports, ...typeImports]
        .filter((to) => to.startsWith('test/') || /fixtures\.ts$|\.test\.ts$/.test(to))
        .map((to) => `${file} → ${to}`),
    )
    expect(wrong).toEqual([])
  })

  test('there is no cycle', () => {
    const all = readSources('src', 'client', 'console/src')
    expect(findCycles(new Map(all.map(({ file, imports }) => [file, imports])))).toEqual([])
  })

  test('there is no cycle of types either', () => {
    const all = readSources('src', 'client', 'console/src')
    const graph = new Map(all.map(({ file, imports, typeImports }) => [file, [...imports, ...typeImports]]))
    expect(findCycles(graph)).toEqual([])
  })
})

/** Rules of the domain, tested without a database: what they decide depends on their arguments only. */
const pureFiles = [
  'src/modules/definitions/activations/timeline.ts',
  'src/modules/definitions/datasets/origin.ts',
  'src/modules/definitions/versions/guards.ts',
  'src/modules/risk-matrices/action-filter.ts',
  'src/modules/risk-matrices/binding/declared-types.ts',
  'src/modules/risk-matrices/cases/golden-case.ts',
  'src/modules/risk-matrices/plain-language.ts',
  'src/modules/rules/rule-functions.ts',
  'src/modules/rules/performance/figures.ts',
  'src/modules/evaluations/decide/inputs.ts',
  'src/modules/evaluations/pack/render-explanation.ts',
  'src/modules/evaluations/records/record.ts',
  'src/modules/batch-evaluations/batch.ts',
  'src/modules/batch-evaluations/decide/item-results.ts',
  'src/modules/batch-evaluations/results/batch-views.ts',
  'src/modules/batch-evaluations/schedules/cron.ts',
  'src/modules/batch-evaluations/source/input-rows.ts',
  'src/modules/impact/impact-tally.ts',
  'src/modules/impact/coverage/coverage-counter.ts',
  'src/modules/subjects/bulk/file-rows.ts',
  'src/modules/subjects/ratings/redact-override.ts',
  'src/modules/subjects/records/subject-content.ts',
  'src/modules/access/role-conflicts.ts',
  'src/modules/audit/event-ids.ts',
  'src/modules/auth/permissions.ts',
  'src/modules/provider-credentials/credential-shape.ts',
  'src/modules/provider-credentials/member-encoding.ts',
  'src/modules/tenant/settings-checks.ts',
]

/** Files that attach derived values to the object they are derived from. Nothing depends on finding them again. */
const weakMapFiles = [
  'src/decision/document.ts',
  'src/kernel/database/pipeline.ts',
  'src/kernel/http/authentication.ts',
  'src/kernel/http/validation.ts',
  'src/kernel/limits.ts',
  'src/modules/evaluations/decide/decide.ts',
  'src/modules/risk-matrices/binding/bind-definition.ts',
  'src/modules/risk-matrices/binding/plugin-results.ts',
  'src/registry/adapters/gleif-tree.ts',
  'src/registry/adapters/mapping-targets.ts',
  'src/registry/types/type-runner.ts',
  'src/registry/types/value-schema.ts',
  // In the text that runs before a plugin.
  'src/sandbox/prelude.ts',
]

const READS_ADDRESSES = 'tells addresses from names; opens nothing'
const LISTENS = 'listens; opens nothing'

/** What can open a connection is used in these files only, as far as it is named here. Imports of types are free. */
const networkAccess: Readonly<Record<string, { readonly uses: readonly string[]; readonly reason: string }>> = {
  'src/app/egress-settings.ts': { uses: ['import isIP of node:net'], reason: READS_ADDRESSES },
  'src/app/embedded/postgres-process.ts': {
    uses: ['import createServer of node:net'],
    reason: 'listens for a moment to find a free port; opens nothing',
  },
  'src/app/ports.ts': {
    uses: ['import createServer, isIPv6 of node:net', 'fetch'],
    reason: 'asks at the start whether the port of this service is held by this service',
  },
  'src/kernel/auth/demo-sign-in.ts': { uses: ['import isIPv4 of node:net'], reason: READS_ADDRESSES },
  'src/kernel/egress/addresses.ts': { uses: ['import isIP of node:net'], reason: READS_ADDRESSES },
  'src/kernel/egress/connect.ts': {
    uses: ['import node:net', 'import node:tls'],
    reason: 'egress: connects to checked addresses',
  },
  'src/kernel/egress/egress.ts': { uses: ['import() undici'], reason: 'egress: HTTP on these connections' },
  'src/kernel/egress/proxy-tunnel.ts': { uses: ['import isIPv6 of node:net'], reason: READS_ADDRESSES },
  'src/kernel/egress/targets.ts': { uses: ['import isIP of node:net'], reason: READS_ADDRESSES },
  'src/kernel/http/origin-guard.ts': { uses: ['import isIP of node:net'], reason: READS_ADDRESSES },
  'src/kernel/malware-scanner.ts': {
    uses: ['import node:net'],
    reason: "the scanner is the operator's own and speaks no HTTP; no tenant can name it",
  },
  'src/kernel/metrics.ts': { uses: ['import createServer of node:http'], reason: LISTENS },
  'src/provider/check-manifest.ts': { uses: ['import isIPv6 of node:net'], reason: READS_ADDRESSES },
  'src/registry/types/string-formats.ts': { uses: ['import isIPv4, isIPv6 of node:net'], reason: READS_ADDRESSES },
}

describe('homes', () => {
  const sql = /\b(select|insert into|update|delete from)\s+(app\.|set_config|1\b|pg_)|\bfrom app\./i
  const mayHoldSql = (file: string) =>
    file.endsWith('/queries.ts') || file.startsWith('src/kernel/database/') || file.startsWith('src/app/embedded/')

  test('only queries.ts holds SQL', () => {
    expect(sources.filter(({ file, text }) => mayHoldSql(file) && sql.test(text)).length).toBeGreaterThan(5)
    expect(sources.filter(({ file, text }) => !mayHoldSql(file) && sql.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('no module chooses what a transaction may see', () => {
    const choosing = /\bfullScope\b|\bsight: ['`]|app\.restriction_(force|person)\b/
    expect(sources.filter(({ text }) => choosing.test(text)).length).toBeGreaterThan(5)
    const modules = sources.filter(({ file, text }) => file.startsWith('src/modules/') && choosing.test(text))
    expect(modules.map(({ file }) => file)).toEqual([])
  })

  test('only the first integrity keys are derived from the master key', () => {
    const deriving = sources.filter(({ text }) => /\.derive(Each)?\(/.test(text)).map(({ file }) => file)
    expect(deriving).toEqual(['src/kernel/integrity/keys.ts'])
  })

  test('secrets of credentials are decrypted in one file', () => {
    const reading = sources.filter(({ text }) => /\b(findSecret|openToken|decodeMembers)\b/.test(text))
    const folder = 'src/modules/provider-credentials'
    const names = ['member-encoding', 'queries', 'token-lease', 'with-credential'].map((name) => `${folder}/${name}.ts`)
    expect(reading.map(({ file }) => file).toSorted()).toEqual(names)
    const decrypting = sources.filter(({ file, text }) => file.startsWith(folder) && /\.decrypt\(/.test(text))
    expect(decrypting.map(({ file }) => file)).toEqual([`${folder}/with-credential.ts`])
    const naming = sources.filter(({ text }) => /'provider_credential_version'|'credential_token'/.test(text))
    expect(naming.map(({ file }) => file)).toEqual([`${folder}/with-credential.ts`])
    const selecting = sources.filter(({ text }) => /app\.(provider_credential_version|credential_token)\b/.test(text))
    expect(selecting.map(({ file }) => file)).toEqual([`${folder}/queries.ts`])
  })

  test('files of pure functions do no I/O and read no clock', () => {
    const pure = sources.filter(({ file }) => pureFiles.includes(file))
    expect(pure.map(({ file }) => file).toSorted()).toEqual(pureFiles.toSorted())
    const impure = pure.filter(({ text }) =>
      /from 'node:|from 'pg'|Date\.now|new Date\(\)|Math\.random|queries\.ts'/.test(text),
    )
    expect(impure.map(({ file }) => file)).toEqual([])
  })

  test('only the kernel meets the framework and the driver', () => {
    const wrong = sources.filter(
      ({ file, text }) => file.startsWith('src/modules/') && /from '(fastify|pg|jose|pino)'/.test(text),
    )
    expect(wrong.map(({ file }) => file)).toEqual([])
  })

  test('only egress opens connections to other systems', () => {
    const reaching = sources.flatMap(({ file, text }) => {
      const access = findNetworkAccess(text)
      return access.length > 0 ? [[file, access.toSorted()] as const] : []
    })
    const expected = Object.entries(networkAccess).map(([file, { uses }]) => [file, uses.toSorted()] as const)
    expect(Object.fromEntries(reaching)).toEqual(Object.fromEntries(expected))
  })

  test('only the tool protocol calls operations through kernel.call', () => {
    const calling = sources
      .filter(({ text }) => /kernel\s*\.call\(|\buses: \[[^\]]*'call'/.test(text))
      .map(({ file }) => file)
    expect(calling).toContain('src/modules/mcp/server/tool-call.ts')
    expect(calling.filter((file) => !file.startsWith('src/modules/mcp/'))).toEqual([])
  })

  test('threads are started in two files only, where they run under a slot of the admission', () => {
    // A process of its own, for which the one that starts it holds the slot.
    const inProcess = 'src/kernel/typesetting/compile-process.ts'
    const starting = sources.filter(({ file, text }) => file !== inProcess && /new Worker\(/.test(text))
    const expected = ['src/kernel/bounded-thread.ts', 'src/registry/import/import-runner.ts']
    expect(starting.map(({ file }) => file).toSorted()).toEqual(expected)
    expect(starting.filter(({ text }) => !/thread-admission\.ts'/.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('a bounded cache is declared, so that it has a name, metrics and a way around it', () => {
    const bounded = sources.filter(({ text }) => /from 'lru-cache'/.test(text)).map(({ file }) => file)
    // Token buckets are counters that must not be lost, not values that can be computed again.
    expect(bounded.toSorted()).toEqual(['src/kernel/cache/caches.ts', 'src/kernel/token-bucket.ts'])
  })

  test('a map of the process is bounded, or it is said what bounds it', () => {
    const declared = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:export )?const (\w+)(: [^=]*)? = new (?:Map|Set)(?:<[^=]*>)?\(\)/gm)]
        // Constants that stay empty.
        .filter(([, name = '']) => !/^NO_/.test(name))
        .map(([, name]) => `${file} ${name}`),
    )
    expect(declared.toSorted()).toEqual(Object.keys(processMaps).toSorted())
  })

  test('a WeakMap holds what is derived from an immutable object or belongs to a connection, never to the kernel', () => {
    const using = sources.filter(({ text }) => /new WeakMap\b/.test(text))
    expect(using.map(({ file }) => file).toSorted()).toEqual(weakMapFiles.toSorted())
    expect(using.filter(({ text }) => /WeakMap<(Kernel|Capabilities)/.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('only the configuration reads the environment', () => {
    const wrong = sources.filter(({ file, text }) => /process\.env/.test(text) && !file.startsWith('src/app/'))
    expect(wrong.map(({ file }) => file)).toEqual([])
  })

  test('segments belong to their module', () => {
    for (const module of modules) {
      for (const route of module.routes)
        expect(module.segments, `${route.at} in ${module.name}`).toContain(route.path.split('/')[1])
    }
  })
})

/** What other modules may import. Counted by name, types included. */
function listExports(text: string): string[] {
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','))
  const declared = [...text.matchAll(/^export (?:(?:async )?(?:const|function|class|interface|type)|\* as) (\w+)/gm)]
  return [...lists.map((name) => name.trim()).filter(Boolean), ...declared.map(([, name = '']) => name)]
}

describe('the interface of a module', () => {
  const MAX_EXPORTS = 15
  const interfaces = sources.filter(({ file }) => /^src\/modules\/[^/]+\/index\.ts$/.test(file))

  test('has at most 15 exports', () => {
    expect(interfaces.map(({ file }) => moduleOf(file)).toSorted()).toEqual(order.toSorted())
    const wide = interfaces.filter(({ text }) => listExports(text).length > MAX_EXPORTS)
    expect(wide.map(({ file }) => moduleOf(file))).toEqual([])
  })

  test('exports whole files under a name of their own only, so that they are counted', () => {
    expect(interfaces.filter(({ text }) => /^export \* from/m.test(text)).map(({ file }) => file)).toEqual([])
  })
})

describe('operationIds', () => {
  /** As `id: '…'`, in the arguments of a function that creates routes, or as an operation of a kind of definition. */
  function declares({ file, text }: { readonly file: string; readonly text: string }, id: string): boolean {
    const created = `\\b(?:create\\w+Routes?|aliasRoute)\\((?:[^()]|\\([^()]*\\))*'${id}'`
    const ofKind = file.endsWith('-kind.ts') ? `|\\w+: '${id}'` : ''
    return new RegExp(`\\bid: '${id}'|${created}${ofKind}`).test(text)
  }

  test.for(modules)('$name: each is declared as a string in the folder of its router', ({ name, routes }) => {
    const own = sources.filter(({ file }) => moduleOf(file) === name)
    const missing = routes.filter(({ id }) => !own.some((source) => declares(source, id))).map(({ id }) => id)
    expect(missing).toEqual([])
  })

  test.each([
    ['routes.ts', "tenantRoute('GET /a', {\n  id: 'getA',", true],
    ['routes.ts', "export const route = createCoverageRoute(kind, 'getA')", true],
    ['routes.ts', "createBacktestRoutes(kind, {\n  start: 'startA',\n  get: 'getA',\n})", true],
    ['routes.ts', "aliasRoute(routeAt('GET /b'), 'GET /a', 'getA')", true],
    ['a-kind.ts', "  read: 'getA',", true],
    ['routes.ts', "  read: 'getA',", false],
    ['routes.ts', `  id: \`get$\{'A'}\`,\n  next: 'getA',`, false],
    ['routes.ts', "  id: `getA`,\n  // 'getA'", false],
  ])('%s: %j declares it: %j', (file, text, expected) => {
    expect(declares({ file, text }, 'getA')).toBe(expected)
  })
})

describe('casts to never', () => {
  /** Tests pass values that are incomplete or wrong on purpose; elsewhere such a cast can hide a fault. */
  test('have a comment that says why, on the line before or above the declaration', () => {
    const product = [...sources, ...readSources('client'), ...readSources('console/src')]
    const unexplained = product.flatMap(({ file, text }) => {
      const lines = text.split('\n')
      return lines.flatMap((line, index) => {
        if (!/ as never\b/.test(line) || /^\s*(\/\/|\*|\/\*)/.test(line) || /was never/.test(line)) return []
        const before = lines.slice(Math.max(0, index - 2), index)
        return before.some((each) => /^\s*(\/\/|\*|\/\*\*)/.test(each)) ? [] : [`${file}:${index + 1}`]
      })
    })
    expect(unexplained).toEqual([])
  })
})

describe('size and names', () => {
  test('a word of the glossary is defined once', () => {
    const glossary = fs.readFileSync(path.join(projectRoot, 'docs/glossary.md'), 'utf8')
    const words = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, word = '']) => word.split(', '))
    expect(words.length).toBeGreaterThan(50)
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([])
  })

  test('no function has more than 80 lines or four parameters, unless a reason is given', () => {
    const all = [...sources, ...readSources('client', 'console/src')]
    const functions = all.flatMap(({ file, text }) => listFunctions(file, text))
    expect(functions.length).toBeGreaterThan(2000)
    const over = functions.filter(({ lines, parameters }) => lines > 80 || parameters > 4)
    const describeFunction = ({ file, name, lines, parameters }: (typeof over)[number]) =>
      `${file} ${name}: ${lines} lines, ${parameters} parameters`
    const unexcused = over.filter(({ file, name }) => !(`${file} ${name}` in longFunctions))
    expect(unexcused.map(describeFunction)).toEqual([])
    const excused = over.map(({ file, name }) => `${file} ${name}`)
    expect(Object.keys(longFunctions).filter((name) => !excused.includes(name))).toEqual([])
  })

  test('the parser finds functions of every form', () => {
    const text = 'class A { m(a, b) {} get g() { return 1 } }\nconst f = (a) =>\n  a\nfunction h() {}\nx(() => 1)'
    expect(listFunctions('a.ts', text)).toEqual([
      { file: 'a.ts', name: 'm', lines: 1, parameters: 2 },
      { file: 'a.ts', name: 'g', lines: 1, parameters: 0 },
      { file: 'a.ts', name: 'f', lines: 2, parameters: 1 },
      { file: 'a.ts', name: 'h', lines: 1, parameters: 0 },
      { file: 'a.ts', name: '(anonymous)', lines: 1, parameters: 0 },
    ])
  })

  test('a file is read in one sitting', () => {
    const long = sources
      .map(({ file, text }) => ({ file, lines: text.split('\n').length }))
      .filter(({ lines }) => lines > 420)
    expect(long).toEqual([])
  })

  test('a folder inside a module has more than one file', () => {
    const folders = new Map<string, string[]>()
    for (const { file } of sources.filter((source) => moduleOf(source.file))) {
      const folder = path.posix.dirname(file)
      folders.set(folder, [...(folders.get(folder) ?? []), file])
    }
    expect(folders.size).toBeGreaterThan(order.length)
    expect([...folders.values()].filter((files) => files.length === 1)).toEqual([])
  })

  test('file names are kebab-case and say what is inside', () => {
    const odd = sources.filter(
      ({ file }) =>
        !/^[a-z0-9-]+\.ts$/.test(path.posix.basename(file)) ||
        /(utils?|helpers?|common|manager|service)\.ts$/.test(file),
    )
    expect(odd.map(({ file }) => file)).toEqual([])
  })

  test('every file opens with what it is for', () => {
    expect(sources.filter(({ text }) => !text.startsWith('/**')).map(({ file }) => file)).toEqual([])
  })
})

test('a browser story waits for what a page shows, as a page may still show what it had', () => {
  const stories = readSources('test/browser')
  const reading =
    'count|inputValue|innerText|textContent|allTextContents|isVisible|isDisabled|isEnabled|getAttribute|title|url'
  const waiting = new RegExp(`expect\\.?\\s*\\.poll\\(\\(\\) =>[^\\n]*\\.(${reading})\\(`)
  const once = new RegExp(`expect\\((await )?[^\\n]*\\b(page|\\))\\.(${reading})\\([^)]*\\)\\)*\\.to`)
  expect(stories.filter(({ text }) => waiting.test(text)).length).toBeGreaterThan(15)
  const found = stories.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, at) => (once.test(line) ? [`${file}:${at + 1}`] : [])),
  )
  expect(found).toEqual([])
})
