/** Types of events that modules declare beside their routes and jobs. */

export interface EventType {
  /** `<object>.<what happened>`, for example `subject.rating_changed`. */
  readonly type: `${string}.${string}`
  readonly summary: string
  /** Kind of the object that it is about; `object_id` of the event is its id or key. */
  readonly object_kind: string
  /** Members of `data`, each with what it holds: ids, keys, states and numbers, never names or texts. */
  readonly data: Readonly<Record<string, string>>
}

export const declareEvent = <const E extends EventType>(declaration: E): E => declaration
