/** Kinds of work that a caller may read: those whose objects it may open. A kind that no module declares is shown to nobody. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Actor } from '#kernel/route.ts'
import type { WorkKind } from '#kernel/work-kind.ts'

type Modules = Capabilities<'modules'>

/** Items and clocks say that their object exists, so they are for the roles of the operation that opens it. */
function listReaders({ modules }: Modules, { kind, operation, roles }: WorkKind): readonly Role[] {
  if (operation === null) return roles
  const route = modules.flatMap(({ routes }) => routes).find(({ id }) => id === operation)
  if (!route) throw new Error(`the kind of work ${kind} names the unknown operation ${operation}`)
  return route.roles
}

export const listReadableKinds = (kernel: Modules, { roles }: Pick<Actor, 'roles'>): string[] =>
  kernel.modules
    .flatMap(({ work = [] }) => work)
    .filter((kind) => listReaders(kernel, kind).some((role) => roles.includes(role)))
    .map(({ kind }) => kind)
