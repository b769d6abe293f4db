/** Pure checks on tenant settings. */
import type { Route } from '../../kernel/route.ts'

export const repeatedName = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index)

export function unknownZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return false
  } catch {
    return true
  }
}

export const governedActions = (routes: readonly Route[]): string[] =>
  [...new Set(routes.flatMap((route) => (route.governed ? [route.governed.action] : [])))].sort()
