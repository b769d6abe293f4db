/** One member of a record that a change makes different. */
export interface MemberChange {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}
