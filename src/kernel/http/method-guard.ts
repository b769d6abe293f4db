/** Answers 405 with Allow for a path that exists under another method, before any other check. */
import { fail } from '../problem.ts'
import type { Route } from '../route.ts'

/** One method at one URL of the router. */
export interface MountedRoute {
  readonly method: string
  readonly url: string
}

export function createMethodGuard(routes: readonly MountedRoute[]) {
  const exact = new Map<string, Set<string>>()
  const patterns = new Map<string, { regex: RegExp; methods: Set<string> }>()
  for (const { method, url } of routes) {
    if (!url.includes(':')) {
      exact.set(url, (exact.get(url) ?? new Set()).add(method))
      continue
    }
    const source = url.replace(/[.+*?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')
    const entry = patterns.get(url) ?? { regex: new RegExp(`^${source}$`), methods: new Set<string>() }
    entry.methods.add(method)
    patterns.set(url, entry)
  }

  /**
   * A literal path is never the value of a parameter, even if the router `matched` it: `/subjects/bulk` is no subject. Patterns
   * are tried only when the router found nothing, so served requests do not pay for it.
   */
  return (method: string, path: string, matched: boolean): void => {
    const own = exact.get(path)
    if (matched && (own === undefined || own.has(method))) return
    const allowed = new Set(own)
    for (const { regex, methods } of own ? [] : patterns.values()) {
      if (regex.test(path)) for (const known of methods) allowed.add(known)
    }
    // The method exists and still nothing was found: the path is wrong.
    if (allowed.size === 0 || allowed.has(method)) return
    fail('method_not_allowed', { headers: { allow: [...allowed].sort().join(', ') } })
  }
}

/** Every URL of a route. */
export const toUrls = (route: Route): string[] =>
  route.also_at_root ? [`/api${route.path}`, route.path] : [`/api${route.path}`]
