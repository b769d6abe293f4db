/**
 * Sends one change to the server, and keeps its problem or the change request it became. Invalidates the affected
 * queries.
 */

import { notifications } from '@mantine/notifications'
import { isChangeRequest, isProblem, type ProbityProblem, type Schemas } from '@probity/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'

const LINK_MS = 12_000

interface ApiMutationOptions<Output> {
  /** First parts of the query keys to invalidate. */
  readonly invalidates: readonly string[]
  /** The call decides on a change request, so a change request in the response does not mean that it needs approval. */
  readonly decidesRequest?: boolean
  /** The notification after success. */
  readonly successMessage?: string | ((output: Output) => ReactNode)
  readonly onDone?: (output: Output) => void
}

export interface ApiMutation<Input> {
  /** Does nothing while a call is being sent: a double click sends once. */
  run(input: Input): void
  readonly isRunning: boolean
  readonly problem: ProbityProblem | null
  /** Set if the change needs approval and has become a change request. */
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
  // The state of the mutation changes with the next render only, which is too late for the second click of a double click.
  const isSending = useRef(false)
  const isWaiting = (output: unknown): output is Schemas['ChangeRequest'] => !isAboutRequest && isChangeRequest(output)
  const mutation = useMutation({
    mutationFn: send,
    onSuccess: async (output) => {
      const touched = isWaiting(output) ? ['change-requests'] : touches
      await Promise.all(touched.map((name) => queries.invalidateQueries({ queryKey: [name] })))
      if (isWaiting(output)) return
      const made = output as Exclude<Output, Schemas['ChangeRequest']>
      if (done !== undefined) {
        const message = typeof done === 'string' ? done : done(made)
        // A link takes longer to read and to reach.
        notifications.show({ message, color: 'teal', ...(typeof message !== 'string' && { autoClose: LINK_MS }) })
      }
      onDone?.(made)
    },
    onSettled: () => {
      isSending.current = false
    },
  })
  return {
    run: (input) => {
      if (isSending.current) return
      isSending.current = true
      mutation.mutate(input)
    },
    isRunning: mutation.isPending,
    problem: toProblem(mutation.error),
    waiting: isWaiting(mutation.data) ? mutation.data : null,
    reset: mutation.reset,
  }
}

function toProblem(error: Error | null): ProbityProblem | null {
  // An error of the console itself is shown on the error page, not beside a form.
  if (error !== null && !isProblem(error)) throw error
  // The sign-in page reports an ended session.
  return error?.status === 401 ? null : error
}
