/** Proposes a draft from sample payloads, pasted or from files. */
import { Button, FileButton, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { formatCount } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import type { Proposal } from './proposal-summary.tsx'
import { readSamples, type Samples } from './samples.ts'

interface SamplesFormProps {
  readonly onProposed: (proposal: Proposal) => void
}

interface SampleFile {
  readonly name: string
  readonly text: string
}

/** A file of XML is uploaded, because the request of an inference holds JSON. */
async function infer(samples: Exclude<Samples, { kind: 'unreadable' }>, records_at: string) {
  const place = records_at === '' ? {} : { records_at }
  if (samples.kind === 'json')
    return probity.POST('/api/source-contracts/infer', { body: { payloads: [...samples.payloads], ...place } })
  const upload = await probity.uploads.create(new File([samples.text], 'sample.xml', { type: 'application/xml' }))
  return probity.POST('/api/source-contracts/infer', {
    body: { upload_id: upload.upload_id, media_type: 'application/xml', ...place },
  })
}

const describeRecordsPlace = (records_at: string): string =>
  records_at === ''
    ? 'Each sample is taken as one record, or as a list of them.'
    : `The records are taken from ${records_at}. If that is wrong, say where they are and propose again.`

/** A sample that the draft refuses does not keep it from being published. */
const isAboutSample = ({ code }: { readonly code: string }): boolean => code === 'sample_refused'

export function SamplesForm({ onProposed }: SamplesFormProps) {
  const [text, setText] = useState('')
  const [files, setFiles] = useState<readonly SampleFile[]>([])
  const [records_at, setRecordsAt] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const propose = useApiMutation((samples: Exclude<Samples, { kind: 'unreadable' }>) => infer(samples, records_at), {
    invalidates: [],
    onDone: ({ definition, records, records_at: found_at, samples, samples_without_records, open_objects, findings }) =>
      onProposed({
        definition,
        summary: [
          describeRecordsPlace(found_at),
          ...(samples_without_records > 0
            ? [`${samples_without_records} of ${formatCount(samples, 'sample')} gave no record.`]
            : []),
          `Made from ${formatCount(records, 'record')}. Its example is invented, so that no value of your samples is stored.`,
        ],
        details: [
          ...open_objects.map((pointer) => ({
            pointer,
            text: 'has so many different field names that these are taken as data.',
          })),
          ...findings.filter(isAboutSample).map(({ pointer, message }) => ({ pointer, text: message })),
        ],
        findings: findings.filter((finding) => !isAboutSample(finding)),
      }),
  })
  async function take(chosen: readonly File[]) {
    const read = await Promise.all(chosen.map(async (file) => ({ name: file.name, text: await file.text() })))
    setFiles((now) => [...now, ...read])
  }
  function send() {
    const samples = readSamples([...files.map((file) => file.text), text])
    setFault(samples.kind === 'unreadable' ? samples.message : null)
    if (samples.kind !== 'unreadable') propose.run(samples)
  }
  return (
    <Section title="Sample payloads">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Stack gap="sm">
          <Text size="sm">
            Fields, formats, allowed values and personal data are proposed from what you give. Ten answers or more make
            a good proposal. Nothing is stored until you create the contract.
          </Text>
          <Textarea
            label="Payloads"
            description="One JSON or XML document, or one JSON document on each line."
            autosize
            minRows={6}
            maxRows={18}
            spellCheck={false}
            classNames={{ input: 'mono' }}
            value={text}
            error={fault}
            onChange={(event) => setText(event.currentTarget.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              take([...event.dataTransfer.files])
            }}
          />
          <Group gap="xs">
            <FileButton onChange={take} multiple accept=".json,.jsonl,.ndjson,.xml">
              {(button) => (
                <Button size="xs" variant="default" {...button}>
                  Add files
                </Button>
              )}
            </FileButton>
            {files.length > 0 && (
              <>
                <Text size="sm">{files.map(({ name }) => name).join(', ')}</Text>
                <Button size="xs" variant="subtle" onClick={() => setFiles([])}>
                  Remove files
                </Button>
              </>
            )}
          </Group>
          <TextInput
            label="Records are at"
            description="JSON Pointer; empty: the list of objects that every sample has in its envelope, or the sample itself."
            placeholder="/result/items"
            classNames={{ input: 'mono' }}
            value={records_at}
            onChange={(event) => setRecordsAt(event.currentTarget.value)}
          />
          <ProblemNote problem={propose.problem} />
          <Group>
            <Button type="submit" loading={propose.isRunning}>
              Propose a draft
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
