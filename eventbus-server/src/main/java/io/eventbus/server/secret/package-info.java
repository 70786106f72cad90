/** Keys of a bus and checks of the files that hold its secrets. */
package io.eventbus.server.secret;
