/**
 * The views of the console that show an object which may belong to a restriction, from the schemas of the responses and the
 * sources of the console. A view is a file that calls an operation whose response has a `restriction_id`, or uses a query of one.
 */
import { modules } from '#app/modules.ts'
import type { Route } from '#kernel/route.ts'
import { readSources, type SourceFile } from './source-imports.ts'

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}

export const isRestrictable = (properties: object): boolean =>
  'restriction_id' in properties || 'is_restricted' in properties

function hasRestriction(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false
  if (schema.properties && isRestrictable(schema.properties)) return true
  return [...Object.values(schema.properties ?? {}), schema.items, ...(schema.anyOf ?? [])].some(hasRestriction)
}

export interface RestrictedOperation {
  readonly operation: string
  /** As the client names it: `/api/jobs/{job_id}`. */
  readonly path: string
  /** The name of the last path parameter if the response is that object, otherwise null. */
  readonly parameter: string | null
}

const isObject = ({ reply }: Route): boolean =>
  'restriction_id' in ((reply[1] as JsonSchema | null)?.properties ?? {}) ||
  ((reply[1] as JsonSchema | null)?.anyOf ?? []).some(({ properties }) => 'restriction_id' in (properties ?? {}))

/** Operations that read something which may belong to a restriction. */
export const restrictedOperations: readonly RestrictedOperation[] = modules
  .flatMap((module) => module.routes)
  .filter(({ method, reply }) => method === 'GET' && hasRestriction(reply[1] as JsonSchema))
  .map((route) => ({
    operation: route.id,
    path: `/api${route.path.replaceAll(/:([a-z_]+)/g, '{$1}')}`,
    parameter: isObject(route) ? (/:([a-z_]+)$/.exec(route.path)?.[1] ?? null) : null,
  }))

const PADLOCK = /<RestrictionMark\b|<RestrictionNote\b|\brestriction_id=\{/
/** Has the padlock for every page. */
const FRAME = 'console/src/ui/page.tsx'

const sources = readSources('console/src')
const byFile = new Map(sources.map((source) => [source.file, source]))

const calls = ({ text }: SourceFile, path: string): boolean => text.includes(`probity.GET('${path}'`)

/** Whether the file, or a part of the view that it imports, has a padlock. */
const showsPadlock = ({ text, imports }: SourceFile): boolean =>
  PADLOCK.test(text) ||
  imports.some((file) => file !== FRAME && file.endsWith('.tsx') && PADLOCK.test(byFile.get(file)?.text ?? ''))

export interface View extends RestrictedOperation {
  readonly file: string
  readonly hasPadlock: boolean
}

/** Files that show what the operation returns. A file without components offers a query, so those that import it are the views. */
const listFiles = (path: string): SourceFile[] =>
  sources
    .filter((source) => calls(source, path))
    .flatMap((source) =>
      source.file.endsWith('.tsx')
        ? [source]
        : sources.filter(({ file, text, imports }) => {
            if (!file.endsWith('.tsx') || !imports.includes(source.file)) return false
            return listQueries(source.text, path).some((name) => new RegExp(`\\b${name}\\b`).test(text))
          }),
    )

/** Names of the exported queries of a file that call the path. */
const listQueries = (text: string, path: string): string[] =>
  text
    .split(/^(?=export )/m)
    .filter((part) => part.includes(`probity.GET('${path}'`))
    .flatMap((part) => /^export (?:const|function|async function) (\w+)/.exec(part)?.[1] ?? [])

export const restrictedViews: readonly View[] = restrictedOperations.flatMap((operation) =>
  listFiles(operation.path).map((source) => ({ ...operation, file: source.file, hasPadlock: showsPadlock(source) })),
)

/** The pages of the console by their file. */
const pages = ['areas.ts', 'policy-areas.ts']
  .flatMap((file) => [
    ...(byFile.get(`console/src/${file}`)?.text ?? '').matchAll(/'(\/[^']*)': \(\) => import\('\.\/([^']+)'\)/g),
  ])
  .map(([, page = '', file = '']) => ({ page, file: `console/src/${file}` }))

/** Pages of one object: the address has the parameter of the operation, and the page or a part of it calls the operation. */
export const objectPages = restrictedViews
  .filter(({ parameter }) => parameter !== null)
  .flatMap(({ operation, parameter, file }) =>
    pages
      .filter((page) => page.page.endsWith(`/$${parameter}`))
      .filter((page) => page.file === file || byFile.get(page.file)?.imports.includes(file))
      .map(({ page }) => ({ operation, page })),
  )

/** Pages whose own list may have such rows. */
export const listPages = restrictedViews
  .filter(({ parameter, hasPadlock }) => parameter === null && hasPadlock)
  .flatMap(({ operation, file }) =>
    pages
      .filter(({ page }) => page !== '/' && !page.includes('$'))
      .filter((page) => page.file === file || byFile.get(page.file)?.imports.includes(file))
      .map(({ page }) => ({ operation, page })),
  )
