/** Creates a provider from a manifest: a template, a pasted text or a file. */
import { Button, Group, Radio, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { toKey } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { ManifestEditor } from './manifest-editor.tsx'
import { createTemplates, formatManifest, parseManifestText } from './manifest-text.ts'

interface NewProvider {
  readonly title: string
  readonly key: string
  readonly text: string
}

const blank: NewProvider = { title: '', key: '', text: '' }

export default function NewProviderPage() {
  const navigate = useNavigate()
  const [templates] = useState(() => createTemplates(new Date()))
  const [chosen, setChosen] = useState<string | null>(null)
  const [provider, setProvider] = useState(blank)
  const definition = parseManifestText(provider.text)
  const create = useApiMutation(
    () =>
      probity.POST('/api/providers', {
        body: { provider_key: provider.key, title: provider.title, definition: { ...definition } },
      }),
    {
      invalidates: ['definitions'],
      successMessage: 'Draft created',
      onDone: ({ provider_key }) => navigate({ to: `/providers/${provider_key}/draft` }),
    },
  )
  const faults = faultsByField(create.problem)
  /** Title and key follow the manifest until they are typed. */
  function setText(text: string) {
    const { title, provider_key } = (parseManifestText(text) ?? {}) as { title?: unknown; provider_key?: unknown }
    const named = typeof title === 'string' ? title : ''
    const key = typeof provider_key === 'string' ? provider_key : toKey(named)
    setProvider((now) => ({ text, title: now.title || named, key: now.key || key }))
  }
  return (
    <Page
      title="New provider"
      about="The manifest becomes a draft with its findings. Nothing is called before a version of it is published and put in force."
      trail={
        <PageLink to="/providers" inherit>
          Providers
        </PageLink>
      }
      width="text"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (definition !== null) create.run(undefined)
        }}
      >
        <Stack gap="md">
          <Radio.Group
            label="Start from"
            value={chosen}
            onChange={(name) => {
              setChosen(name)
              setProvider(blank)
              const template = templates.find((one) => one.name === name)
              if (template) setText(formatManifest(template.definition))
            }}
          >
            <Stack gap="xs" mt={6}>
              {templates.map(({ name, about }) => (
                <Radio key={name} value={name} label={name} description={about} />
              ))}
              <Radio
                value="own"
                label="A manifest of your own"
                description="For example, one that the provider gave you or that another tenant uses."
              />
            </Stack>
          </Radio.Group>
          {chosen !== null && (
            <>
              <ManifestEditor value={provider.text} findings={[]} onChange={setText} />
              <TextInput
                label="Title"
                required
                maxLength={200}
                value={provider.title}
                error={faults['title']}
                onChange={(event) => setProvider({ ...provider, title: event.currentTarget.value })}
              />
              <TextInput
                label="Key"
                description="Lower-case letters, digits and hyphens. It cannot be changed later."
                required
                maxLength={100}
                classNames={{ input: 'mono' }}
                value={provider.key}
                error={faults['provider_key']}
                onChange={(event) => setProvider({ ...provider, key: event.currentTarget.value })}
              />
              <ProblemNote problem={create.problem} />
              <Group>
                <Button type="submit" loading={create.isRunning} disabled={definition === null}>
                  Create draft
                </Button>
              </Group>
            </>
          )}
        </Stack>
      </form>
    </Page>
  )
}
