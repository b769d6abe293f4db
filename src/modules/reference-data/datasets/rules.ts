/** Whose a list, matrix or rule is, and the ETag it is shown with. */
import { etagOf, etagOfAll } from '../../../kernel/revision.ts'
import { SYSTEM_TENANT } from '../../../kernel/uuid.ts'

/** Of this tenant, or published by the operator for all of them. */
export type Origin = 'own' | 'shared'

export const originOf = (tenant_id: string): Origin => (tenant_id === SYSTEM_TENANT ? 'shared' : 'own')

/** The tag of a shared one never fits a change: changes go to the tenant's own, which may have the same revision. */
export const etagOfView = (view: { readonly revision: number; readonly origin: Origin }): string =>
  view.origin === 'shared' ? etagOf(`shared-${etagOfAll(view).slice(1, -1)}`) : etagOfAll(view)
