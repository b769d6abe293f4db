/** One change sent to the server: runs it, keeps its problem or the change request it became, and refreshes what it touched. */

import { notifications } from '@mantine/notifications'
import { isChangeRequest, isProblem, type ProbityProblem, type Schemas } from '@probity/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'

interface ApiMutationOptions<Output> {
  /** First parts of the keys of answers that are no longer true. */
  readonly invalidates: readonly string[]
  /** It decides about a change request, so being answered with one does not mean that it waits for approval itself. */
  readonly decidesRequest?: boolean
  /** What to say when it is done. */
  readonly successMessage?: string | ((output: Output) => string)
  readonly onDone?: (output: Output) => void
}

export interface ApiMutation<Input> {
  run(input: Input): void
  readonly isRunning: boolean
  readonly problem: ProbityProblem | null
  /** Set when the tenant's policy asks for approval first: nothing has changed yet. */
  readonly waiting: Schemas['ChangeRequest'] | null
  reset(): void
}

export function useApiMutation<Input, Output>(
  send: (input: Input) => Promise<Output>,
  {
    invalidates: touches,
    decidesRequest: isAboutRequest = false,
    successMessage: done,
    onDone,
  }: ApiMutationOptions<Exclude<Output, Schemas['ChangeRequest']>>,
): ApiMutation<Input> {
  const queries = useQueryClient()
  const isWaiting = (output: unknown): output is Schemas['ChangeRequest'] => !isAboutRequest && isChangeRequest(output)
  const mutation = useMutation({
    mutationFn: send,
    onSuccess: async (output) => {
      const touched = isWaiting(output) ? ['change-requests'] : touches
      await Promise.all(touched.map((name) => queries.invalidateQueries({ queryKey: [name] })))
      if (isWaiting(output)) return
      const made = output as Exclude<Output, Schemas['ChangeRequest']>
      if (done !== undefined) {
        notifications.show({ message: typeof done === 'string' ? done : done(made), color: 'teal' })
      }
      onDone?.(made)
    },
  })
  return {
    run: (input) => mutation.mutate(input),
    isRunning: mutation.isPending,
    problem: toProblem(mutation.error),
    waiting: isWaiting(mutation.data) ? mutation.data : null,
    reset: mutation.reset,
  }
}

function toProblem(error: Error | null): ProbityProblem | null {
  // A fault of the console itself belongs to the error page, not beside a form.
  if (error !== null && !isProblem(error)) throw error
  // An ended session is told where one signs in again.
  return error?.status === 401 ? null : error
}
