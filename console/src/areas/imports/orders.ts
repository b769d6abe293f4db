/** What was ordered for an import, remembered in this tab: a blocked one can be started again with an override. */
import type { Schemas } from '@probity/client'
import { onChangeOfPerson } from '../../session/session.ts'

export interface Order {
  readonly list_key: string
  readonly upload_id: string
  readonly adapter_key: string
  readonly options?: Readonly<Record<string, unknown>>
  readonly strict: boolean
  readonly on_unchanged: 'publish' | 'skip'
  readonly expected_head: number
  readonly label?: string
  readonly note?: string
  readonly override_guards?: { readonly reason: string }
}

const orders = new Map<string, Order>()
onChangeOfPerson(() => orders.clear())

export const rememberOrder = (import_id: string, order: Order): void => void orders.set(import_id, order)
export const orderOf = (import_id: string): Order | undefined => orders.get(import_id)

/** The import a job was started for: the last part of the address it concerns. */
export const importOf = ({ resource }: Pick<Schemas['Job'], 'resource'>): string => resource?.split('/').at(-1) ?? ''
