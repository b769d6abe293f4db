/** Who can do a step that the user may not do. On a demo server: by name, with a button that signs in as that person. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useDemoSignIn, useDemoTenants } from '#console/session/demo-sign-in.ts'
import { useMe } from '#console/session/queries.ts'
import { toWords } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { rolesQuery } from '#console/ui/role-picker.tsx'
import { type DemoActor, findDemoActors, findStepRoles, type Step } from './guide-steps.ts'

/** Approves what a step requests, unless the policy of the tenant names another role. */
const APPROVER = 'compliance_officer'

function useDemoActors(roles: readonly string[]): readonly DemoActor[] {
  const { tenant, principal } = useMe()
  return findDemoActors(useDemoTenants(), { tenant_id: tenant.tenant_id, principal }, roles)
}

/** A step that the roles of the user do not allow. */
export function WhoCan({ step }: { readonly step: Step }) {
  const { data } = useQuery({ ...rolesQuery, throwOnError: false })
  const roles = data ? findStepRoles(step, data.items) : []
  const actors = useDemoActors(roles)
  return (
    <Alert color="gray" role="note">
      <Stack gap="xs">
        <Text size="sm">
          Your roles do not include this step.
          {actors.length > 0
            ? ` ${formatNames(actors)} can do it: on this demo server you can go on as that person.`
            : roles.length > 0 &&
              ` Somebody with the role ${roles.map(toWords).join(' or ')} can do it; this page shows when it is done.`}
        </Text>
        <SignInAs actors={actors} />
      </Stack>
    </Alert>
  )
}

/** Demo people who can approve what the user requested. Nothing on other servers. */
export function DemoApprovers() {
  return <SignInAs actors={useDemoActors([APPROVER])} />
}

const formatNames = (actors: readonly DemoActor[]): string => actors.map(({ name }) => name).join(' or ')

function SignInAs({ actors }: { readonly actors: readonly DemoActor[] }) {
  const session = useDemoSignIn()
  if (actors.length === 0) return null
  return (
    <>
      <Group gap="xs">
        {actors.map(({ user_id, name }) => (
          <Button
            key={user_id}
            size="xs"
            variant="default"
            loading={session.user_id === user_id}
            disabled={session.isRunning}
            onClick={() => session.signIn(user_id)}
          >
            Go on as {name}
          </Button>
        ))}
      </Group>
      <ProblemNote problem={session.problem} />
    </>
  )
}
