/** Proposes a draft from a data contract of the Open Data Contract Standard. */
import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { isJson } from '#console/ui/json-position.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import type { Proposal } from './proposal-summary.tsx'

export function OdcsForm({ onProposed }: { readonly onProposed: (proposal: Proposal) => void }) {
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const convert = useApiMutation(
    (document: Record<string, unknown>) => probity.POST('/api/source-contracts/convert-odcs', { body: { document } }),
    {
      invalidates: [],
      onDone: ({ definition, unmapped, findings }) =>
        onProposed({
          definition,
          summary: ['Taken over from the document. Add at least one example payload in the draft.'],
          details: unmapped.map(({ pointer, reason }) => ({ pointer, text: reason })),
          findings,
        }),
    },
  )
  function send() {
    const document: unknown = isJson(text) ? JSON.parse(text) : null
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    setFault(isObject ? null : 'This is not a JSON object. Convert a YAML document to JSON first.')
    if (isObject) convert.run(document as Record<string, unknown>)
  }
  return (
    <Section title="ODCS document">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">
            A data contract of the Open Data Contract Standard 3.1, as JSON. What has no place in a source contract is
            listed.
          </Text>
          <Textarea
            label="Document"
            required
            autosize
            minRows={6}
            maxRows={18}
            spellCheck={false}
            classNames={{ input: 'mono' }}
            value={text}
            error={fault}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <ProblemNote problem={convert.problem} />
          <Group gap="xs">
            <Button type="submit" loading={convert.isRunning}>
              Convert
            </Button>
            <FileButton onChange={async (file) => file && setText(await file.text())} accept=".json">
              {(button) => (
                <Button variant="default" {...button}>
                  Choose file
                </Button>
              )}
            </FileButton>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
