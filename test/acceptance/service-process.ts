/** One process of the service as an operator runs it: `api`, `worker` or any other command, from the sources the run was made of. */
import { main } from '#app/main.ts'

process.exitCode = await main(process.argv.slice(2))
