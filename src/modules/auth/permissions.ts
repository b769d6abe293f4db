/** Finds which route a method and path mean, and which roles may call it. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Route } from '#kernel/route.ts'

export function checkPermission(route: Route, held: readonly Role[]): { allowed: boolean; reason: string } {
  if (route.access === 'public') return { allowed: true, reason: 'This operation needs no token.' }
  const fitting = held.filter((role) => route.roles.includes(role))
  if (fitting.length > 0) return { allowed: true, reason: `Allowed by the role ${fitting[0]}.` }
  return {
    allowed: false,
    reason: `Needs one of the roles ${route.roles.join(', ')}; this token has ${held.join(', ') || 'none'}.`,
  }
}

/** Literal segments win over parameters, as in the router. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  const given =
    path
      .split('?', 1)[0]
      ?.replace(/^\/api(?=\/)/, '')
      .split('/') ?? []
  let best: { route: Route; literals: number } | undefined
  for (const route of routes) {
    if (route.method !== method) continue
    const wanted = route.path.split('/')
    if (wanted.length !== given.length) continue
    const fits = wanted.every((segment, i) => (segment.startsWith(':') ? given[i] !== '' : segment === given[i]))
    if (!fits) continue
    const literals = wanted.filter((segment) => !segment.startsWith(':')).length
    if (!best || literals > best.literals) best = { route, literals }
  }
  return best?.route
}
