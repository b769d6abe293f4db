/** Every object that can be read by id is found by search, or its module says why not. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import type { Module } from '#kernel/module.ts'
import type { Route } from '#kernel/route.ts'
import { projectRoot } from '#test/support/database.ts'

/** Reads one object by the last segment of its path. */
const readsObject = ({ method, access, path }: Route): boolean =>
  method === 'GET' && access === 'tenant' && /:[a-z_]+$/.test(path)

const listUnexplained = ({ name, routes, search }: Module): string[] => {
  const searched = new Set(search?.sources.map(({ operation }) => operation))
  return routes
    .filter(readsObject)
    .filter(({ id }) => !searched.has(id) && search?.unsearched?.[id] === undefined)
    .map(({ id, at }) => `${name}: ${at} (${id}) has neither a search source nor a reason in \`unsearched\``)
}

test('every object that can be read by id has a search source or a stated reason', () => {
  expect(modules.flatMap(listUnexplained)).toEqual([])
})

test('the check names a module that forgot its source', () => {
  const { search: _, ...withoutSearch } = modules.find(({ name }) => name === 'subjects') as Module
  expect(listUnexplained(withoutSearch).join()).toContain('getSubject')
})

test('every reason is about a route that needs one', () => {
  const stale = modules.flatMap(({ name, routes, search }) =>
    Object.keys(search?.unsearched ?? {})
      .filter((id) => !routes.some((route) => route.id === id && readsObject(route)))
      .map((id) => `${name}: ${id}`),
  )
  expect(stale).toEqual([])
})

test('kinds are unique, and every source is guarded by a route that exists', () => {
  const sources = modules.flatMap(({ search }) => search?.sources ?? [])
  const operations = new Set(modules.flatMap(({ routes }) => routes.map(({ id }) => id)))
  expect(new Set(sources.map(({ kind }) => kind)).size).toBe(sources.length)
  expect(sources.filter(({ operation }) => !operations.has(operation))).toEqual([])
})

test('every kind has a page in the console, which leaves out what has none', () => {
  const text = fs.readFileSync(path.join(projectRoot, 'console/src/ui/search-results.ts'), 'utf8')
  const [, pages = ''] = /const kindPages[^{]*\{(.*?)\n\}/s.exec(text) ?? []
  const shown = [...pages.matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, kind]) => kind)
  const kinds = modules.flatMap(({ search }) => search?.sources.map(({ kind }) => kind) ?? [])
  expect(kinds.filter((kind) => !shown.includes(kind))).toEqual([])
})
