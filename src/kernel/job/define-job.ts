/** Declares a kind of job together with the capabilities its body uses. */
import type { Static, TSchema } from 'typebox'
import type { Role } from '../auth/roles.ts'
import type { Capabilities, Capability } from '../kernel.ts'
import type { JobContext, JobKind } from './kind.ts'

export function defineJob<S extends TSchema, C, const U extends Capability = never>(spec: {
  readonly kind: string
  readonly summary: string
  readonly payload: S
  readonly resumes: 'checkpoint' | 'restart'
  readonly max_attempts?: number
  /** True unless stated. */
  readonly can_cancel?: boolean
  readonly every_s?: number
  readonly visible_to?: readonly Role[]
  /** Only the restriction of the job unless stated. */
  readonly sees?: JobKind['sees']
  /** Members of the kernel that the body needs; it gets no others. */
  readonly uses?: readonly U[]
  readonly run: (context: JobContext<Static<S>, C, Capabilities<U>>) => Promise<Record<string, unknown> | null>
}): JobKind {
  return {
    max_attempts: 5,
    can_cancel: true,
    every_s: null,
    visible_to: null,
    sees: 'restriction',
    uses: [],
    ...spec,
    run: spec.run as JobKind['run'],
  }
}
