// Makes the declarations work with every `lib`: without `esnext.disposable` there is no `Symbol.asyncDispose` either.
import { readFileSync, writeFileSync } from 'node:fs';

const DISPOSABLE = `// As TypeScript's lib.esnext.disposable.d.ts declares it, where that is not a part of the program.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}
export {};
`;

writeFileSync('types/disposable.d.ts', DISPOSABLE);
for (const name of ['client', 'subscription', 'call/service', 'durable/consumer']) {
  const path = `types/${name}.d.ts`;
  const up = name.includes('/') ? '../' : './';
  writeFileSync(path, `import '${up}disposable.js';\n${readFileSync(path, 'utf8')}`);
}
