/** Uploads a new plugin as its first version. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { PackageForm } from './package-form.tsx'
import { blankDraft, type PackageDraft, suggestKey, toUpload } from './package-text.ts'
import { PluginGuide } from './plugin-guide.tsx'

interface StoredUpload {
  readonly draft: PackageDraft
  readonly version: Schemas['PluginVersion']
}

export default function NewPluginPage() {
  const navigate = useNavigate()
  const [draft, setDraft] = useState(blankDraft)
  const [typedKey, setTypedKey] = useState('')
  const [stored, setStored] = useState<StoredUpload | null>(null)
  const plugin_key = stored?.version.plugin_key ?? (typedKey || suggestKey(draft))
  const body = toUpload(draft)
  const upload = useApiMutation(
    () =>
      stored === null
        ? probity.POST('/api/plugins', { body: { plugin_key, ...body } })
        : probity.POST('/api/plugins/{plugin_key}/versions', { params: { path: { plugin_key } }, body: { ...body } }),
    {
      invalidates: ['definitions'],
      onDone: (version) => {
        setStored({ draft, version })
        if (version.reasons.length === 0) navigate({ to: `/plugins/${plugin_key}` })
      },
    },
  )
  const faults = faultsByField(upload.problem)
  return (
    <Page
      title="New plugin"
      about="The package is validated at once. Nothing runs it before a version is put in force."
      trail={
        <PageLink to="/plugins" inherit>
          Plugins
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (body !== null && plugin_key !== '') upload.run(undefined)
          }}
        >
          <Stack gap="md">
            <PackageForm
              draft={draft}
              onChange={setDraft}
              uploaded={stored?.version ?? null}
              isStale={stored !== null && stored.draft !== draft}
            />
            <TextInput
              label="Key"
              description="Lower-case letters, digits and hyphens, as in the manifest. It cannot be changed later."
              required
              readOnly={stored !== null}
              maxLength={100}
              classNames={{ input: 'mono' }}
              value={plugin_key}
              error={faults['plugin_key']}
              onChange={(event) => setTypedKey(event.currentTarget.value)}
            />
            <ProblemNote problem={upload.problem} />
            <Group gap="xs">
              <Button type="submit" loading={upload.isRunning} disabled={body === null || stored?.draft === draft}>
                {stored === null ? 'Upload' : 'Upload as a new version'}
              </Button>
              {stored !== null && (
                <ButtonLink to={`/plugins/${plugin_key}`} variant="default">
                  Open the plugin
                </ButtonLink>
              )}
            </Group>
          </Stack>
        </form>
        <PluginGuide />
      </Stack>
    </Page>
  )
}
