/** Shows sections when all of them have their first answer: before that, a section without rows looks like one that loads. */
import { Skeleton, Stack } from '@mantine/core'
import { createContext, type ReactNode, use, useCallback, useId, useLayoutEffect, useRef, useState } from 'react'

const Waiting = createContext<(id: string, isWaiting: boolean) => void>(() => {})

/** Called by a section: whether its first answer is outstanding. */
export function useFirstAnswer(isWaiting: boolean): void {
  const id = useId()
  const report = use(Waiting)
  useLayoutEffect(() => {
    report(id, isWaiting)
    return () => report(id, false)
  }, [report, id, isWaiting])
}

interface FirstAnswersProps {
  /** What the whole waits for beside its sections. */
  readonly isWaiting: boolean
  readonly children: ReactNode
}

/** A section that waits again later, for another row, does not hide the others. */
export function FirstAnswers({ isWaiting, children }: FirstAnswersProps) {
  // Effects of the sections run before the one below, which then reads what they said in the same commit.
  const waiting = useRef(new Set<string>())
  const [, setChanges] = useState(0)
  const [isReady, setReady] = useState(false)
  const report = useCallback((id: string, waits: boolean) => {
    if (waits) waiting.current.add(id)
    else waiting.current.delete(id)
    setChanges((count) => count + 1)
  }, [])
  useLayoutEffect(() => {
    if (!isWaiting && waiting.current.size === 0) setReady(true)
  })
  return (
    <Waiting value={report}>
      {!isReady && (
        <Stack gap="md" role="status" aria-label="Loading">
          {[160, 120, 200].map((height) => (
            <Skeleton key={height} height={height} />
          ))}
        </Stack>
      )}
      <Stack gap="md" display={isReady ? undefined : 'none'}>
        {children}
      </Stack>
    </Waiting>
  )
}
