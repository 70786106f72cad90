// A small page, like that of an application, which bundles.js bundles.
import { connect } from 'eventbus-client';

connect({ url: location.hash.slice(1), name: 'bundle' }).then(async bus => {
  const got = Promise.withResolvers();
  await bus.subscribe('bundle.*', {}, event => got.resolve(`${event.topic} ${event.sequence} ${event.json().text}`)).ready;
  await bus.publish('bundle.x', { text: 'grüße' });
  globalThis.result = await got.promise;
  await bus.close();
}).catch(error => { globalThis.result = `failed: ${error.stack}`; });
