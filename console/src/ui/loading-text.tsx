/** Stands for a short text, such as a name, until it is loaded: no id or code is shown first. */
import { Skeleton } from '@mantine/core'
import { useFirstAnswer } from './first-answers.tsx'

export function LoadingText() {
  useFirstAnswer(true)
  return <Skeleton component="span" display="inline-block" width="8ch" height="0.8em" role="img" aria-label="Loading" />
}
