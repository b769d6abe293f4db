/** Makes one test call and shows what came of it. */
import { Button, Modal, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { statusQuery } from '#console/ui/provider/provider-queries.ts'
import { TestOutcome, type TestReply } from '#console/ui/provider/test-outcome.tsx'

export function TestConnection({ provider_key }: { readonly provider_key: string }) {
  const [reply, setReply] = useState<TestReply | null>(null)
  const test = useApiMutation(
    () => probity.POST('/api/providers/{provider_key}/test', { params: { path: { provider_key } }, body: {} }),
    { invalidates: ['providers', 'provider-calls'], onDone: setReply },
  )
  const { data: status } = useQuery(statusQuery(provider_key))
  // A list of this service answers by itself in every mode.
  const mode = status?.kind === 'http' ? status.mode : 'live'
  const isOpen = reply !== null || test.problem !== null
  function close() {
    setReply(null)
    test.reset()
  }
  return (
    <>
      <Button variant="default" loading={test.isRunning} onClick={() => test.run(undefined)}>
        Test connection
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title="Test connection"
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
        transitionProps={{ duration: 120 }}
      >
        <Stack gap="sm">
          {reply && <TestOutcome reply={reply} mode={mode} />}
          <ProblemNote problem={test.problem} />
        </Stack>
      </Modal>
    </>
  )
}
