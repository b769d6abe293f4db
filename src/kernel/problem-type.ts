/** What the catalogue says about an error. */
export interface ProblemType {
  readonly status: number
  readonly title: string
  readonly advice: string
  readonly retryable?: true
}
