/** The sandbox as it is after an upgrade: the present build, and one whose plugins see another constant. */
import { hashBuild, type SandboxBuild, sandboxBuilds } from '#sandbox/builds.ts'
import { serveSandbox } from '#sandbox/serve-sandbox.ts'

const [[first_hash, first]] = [...sandboxBuilds] as [[string, SandboxBuild]]
export const upgradedBuild: SandboxBuild = {
  ...first,
  prelude: first.prelude.replace("'use strict';", "'use strict'; globalThis.UPGRADED = true;"),
}

await serveSandbox(
  new Map([
    [first_hash, first],
    [hashBuild(upgradedBuild), upgradedBuild],
  ]),
)
