/** The redirect target of the identity provider. */
import { Alert, Loader } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { finishSignIn } from '#console/oidc.ts'
import { signInAtProvider } from '#console/session/session.ts'
import { ButtonLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'

/** A code can be used once, and React may run an effect twice. */
let pendingFinish: ReturnType<typeof finishSignIn> | null = null

export default function CallbackPage() {
  const navigate = useNavigate()
  const [fault, setFault] = useState('')
  useEffect(() => {
    pendingFinish ??= finishSignIn(new URLSearchParams(window.location.search), window.sessionStorage)
    pendingFinish.then((outcome) => {
      pendingFinish = null
      if ('fault' in outcome) return setFault(outcome.fault)
      signInAtProvider(outcome)
      navigate({ href: outcome.place, replace: true })
    })
  }, [navigate])
  if (fault === '') return <Loader m="xl" aria-label="Signing in" />
  return (
    <Page title="Sign-in failed" width="text">
      <Alert color="red" role="alert" mb="md">
        {fault}
      </Alert>
      <ButtonLink to="/sign-in">Start again</ButtonLink>
    </Page>
  )
}
