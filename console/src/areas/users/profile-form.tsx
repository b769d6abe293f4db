/** Name, team and language of a user. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { Section } from '#console/ui/section.tsx'

interface ProfileFormProps {
  readonly user: Schemas['User']
  readonly onReload: () => void
}

export function ProfileForm({ user, onReload }: ProfileFormProps) {
  const [profile, setProfile] = useState({ name: user.name, team: user.team ?? '', locale: user.locale ?? '' })
  const save = useApiMutation(
    ({ name, team, locale }: typeof profile) =>
      probity.PATCH('/api/users/{user_id}', {
        params: { path: { user_id: user.user_id } },
        body: { name, team: team || null, locale: locale || null, expected_revision: user.revision },
      }),
    { invalidates: ['users'], successMessage: 'Profile saved' },
  )
  const faults = faultsByField(save.problem)
  const field = (name: keyof typeof profile) => ({
    value: profile[name],
    error: faults[name],
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      setProfile({ ...profile, [name]: event.currentTarget.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    save.run(profile)
  }
  return (
    <Section title="Profile">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput label="Name" required maxLength={200} {...field('name')} />
          <Group grow align="flex-start">
            <TextInput label="Team" maxLength={100} {...field('team')} />
            <TextInput label="Language" placeholder="en-GB" maxLength={35} {...field('locale')} />
          </Group>
          <ProblemNote problem={save.problem} onReload={onReload} />
          <Group>
            <Button type="submit" variant="light" loading={save.isRunning}>
              Save profile
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
