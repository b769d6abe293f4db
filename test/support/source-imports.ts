/** The project's own TypeScript files and what each imports, with package aliases resolved to paths of the project. */
import fs from 'node:fs'
import path from 'node:path'

const projectRoot = path.resolve(import.meta.dirname, '../..')

export interface SourceFile {
  /** Path from the root of the project, with forward slashes. */
  readonly file: string
  readonly text: string
  /** Project files it imports at run time. */
  readonly imports: readonly string[]
  /** Project files of which it imports types only. */
  readonly typeImports: readonly string[]
}

type Aliases = readonly (readonly [prefix: string, folder: string])[]

function readAliases(folder: string): Aliases {
  const { imports } = JSON.parse(fs.readFileSync(path.join(projectRoot, folder, 'package.json'), 'utf8'))
  return Object.entries(imports as Record<string, string>).map(([alias, target]) => [
    alias.replace('*', ''),
    path.posix.join(folder, target.replace('*', '')),
  ])
}

const aliases: Aliases = [...readAliases(''), ...readAliases('console')]

function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier)
  if (specifier === '@probity/client') return 'client/index.ts'
  const alias = aliases.find(([prefix]) => specifier.startsWith(prefix))
  return alias && alias[1] + specifier.slice(alias[0].length)
}

const statement = /^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm
const dynamicImport = /\bimport\(\s*'([^']+)'/g

function readSource(file: string): SourceFile {
  const text = fs.readFileSync(path.join(projectRoot, file), 'utf8')
  const imports: string[] = []
  const typeImports: string[] = []
  for (const [whole, type, specifier] of text.matchAll(statement)) {
    const target = resolveImport(file, specifier as string)
    if (!target) continue
    if (type || importsTypesOnly(whole)) typeImports.push(target)
    else imports.push(target)
  }
  for (const [, specifier] of text.matchAll(dynamicImport)) {
    const target = resolveImport(file, specifier as string)
    if (target) imports.push(target)
  }
  return { file, text, imports, typeImports }
}

/** `import { type A, type B } from` leaves nothing to load. */
function importsTypesOnly(text: string): boolean {
  const names = /\{([^}]*)\}/.exec(text)?.[1]
  const list = names?.split(',').filter((name) => name.trim() !== '')
  return list !== undefined && list.length > 0 && list.every((name) => /^\s*type\s/.test(name))
}

/** Tests, and the fixtures that a module keeps for them. */
const testFile = /(\.test\.tsx?|\/([a-z-]+-)?fixtures\.ts)$/

/** Sources below the folders, without their tests and fixtures. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file.split(path.sep).join('/')}`)
      .filter((file) => /\.tsx?$/.test(file) && !testFile.test(file) && !file.includes('/node_modules/'))
      .map(readSource),
  )
}

/** Every strongly connected group of more than one file, each sorted: the cycles of the graph. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const groups: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file) as number)
    stack.push(file)
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue
      if (!index.has(target)) visit(target)
      if (stack.includes(target)) low.set(file, Math.min(low.get(file) as number, low.get(target) as number))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) groups.push(group.toSorted())
  }
  for (const file of graph.keys()) if (!index.has(file)) visit(file)
  return groups
}
