/**
 * The order in which a reader meets the API: tags in the groups of the application, and inside a tag one resource after the
 * other, each created, listed, read, changed and acted on, with what belongs to it below it.
 */
import type { Module } from './module.ts'
import type { Method, Route } from './route.ts'

/** A heading of the documentation and the modules below it, in order. */
export interface TagGroup {
  readonly name: string
  readonly tags: readonly TagText[]
}
interface TagText {
  /** Name of the module, which is the tag of its operations. */
  readonly module: string
  readonly title: string
  readonly description: string
}

export interface Tag {
  readonly name: string
  readonly description: string
  readonly 'x-displayName'?: string
}

/** A module that no group names comes last, with its summary, under a heading of its own. */
export function orderTags(modules: readonly Module[], groups: readonly TagGroup[]) {
  const routers = modules.filter(({ routes }) => routes.length > 0)
  const isServed = ({ module }: TagText): boolean => routers.some(({ name }) => name === module)
  const grouped = groups.map((group) => ({ name: group.name, tags: group.tags.filter(isServed) }))
  const known = grouped.flatMap(({ tags }) => tags)
  const rest = routers.filter(({ name }) => !known.some(({ module }) => module === name))
  const tags: Tag[] = [
    ...known.map(({ module, title, description }) => ({ name: module, 'x-displayName': title, description })),
    ...rest.map(({ name, summary }) => ({ name, description: summary })),
  ]
  const named = grouped.map(({ name, tags }) => ({ name, tags: tags.map(({ module }) => module) }))
  if (known.length > 0 && rest.length > 0) named.push({ name: 'Other', tags: rest.map(({ name }) => name) })
  return { tags, tagGroups: named.filter(({ tags }) => tags.length > 0) }
}

interface Operation {
  readonly module: Module
  readonly route: Route
}

export function orderOperations(modules: readonly Module[], tags: readonly Tag[]): Operation[] {
  const byName = new Map(modules.map((module) => [module.name, module]))
  return tags.flatMap(({ name }) => {
    const module = byName.get(name) as Module
    return orderRoutes(module.routes).map((route) => ({ module, route }))
  })
}

/** One segment of the paths of a module, with the routes that end there. */
interface PathNode {
  readonly routes: Route[]
  readonly children: Map<string, PathNode>
}
const createNode = (): PathNode => ({ routes: [], children: new Map() })

const METHOD_ORDER: readonly Method[] = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE']

function orderRoutes(routes: readonly Route[]): Route[] {
  const root = createNode()
  for (const route of routes) {
    let node = root
    for (const segment of route.path.split('/').slice(1)) {
      const child = node.children.get(segment) ?? createNode()
      node.children.set(segment, child)
      node = child
    }
    node.routes.push(route)
  }
  return flatten(root)
}

/** A resource before its parts, and one of its items before operations on all of them; otherwise in the order of declaration. */
function flatten({ routes, children }: PathNode): Route[] {
  const isItem = (segment: string): number => (segment.startsWith(':') ? 0 : 1)
  const below = [...children].sort(([a], [b]) => isItem(a) - isItem(b))
  const here = routes.toSorted((a, b) => METHOD_ORDER.indexOf(a.method) - METHOD_ORDER.indexOf(b.method))
  return [...here, ...below.flatMap(([, node]) => flatten(node))]
}
