"""Pages for a real browser: useful ones, and those that try what they may not."""

from belayer.vocabulary.events.event import Json
from tests.support.site import Answer, answer


def page(body: str, title: str = "A page", status: int = 200, **headers: str) -> bytes:
    """An HTML document."""
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return answer(html, status, content_type="text/html; charset=utf-8", **headers)


def script(code: str, body: str = "") -> bytes:
    """A page whose script leaves what it found in the title."""
    return page(
        f"<p id=out>nothing</p>{body}<script>const out = document.querySelector('#out');{code}</script>"
    )


FORM = page(
    """<form action=/sent method=get><label>Name <input name=name id=name></label>
    <select name=colour id=colour><option value=r>Red<option value=g>Green</select>
    <button id=send>Send it</button></form>
    <a id=away href=/second>Second page</a> <button onclick="document.title='Clicked'">Press me</button>
    <button id=a>Twice</button><button id=b>Twice</button>
    <p hidden id=hidden>Not to be seen</p>"""
)
TABLE = page(
    """<table id=t><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table>
    <a href=/second>Second</a><a href="https://example.org/x">Elsewhere</a><a href="javascript:alert(1)">No</a>
    <p class=x data-k=one>One</p><p class=x data-k=two>Two</p>"""
)
SPA = page(
    """<div id=app>loading</div><script>
    fetch('/data').then(r => r.json()).then(d => {
      document.querySelector('#app').innerHTML = '<ul>' + d.map(x => `<li class=row>${x}</li>`).join('') + '</ul>';
      history.pushState({}, '', '/app/ready');
    })</script>"""
)


def site(port: int, secret: int) -> dict[str, Answer]:
    """What is served at `port`, which may be reached by the names open.test and other.test; `secret` may not be."""
    here, there = f"http://open.test:{port}", f"http://127.0.0.1:{secret}"
    data: Json = ["one", "two"]
    return {
        "/form": FORM,
        "/table": TABLE,
        "/spa": SPA,
        "/data": answer(str(data).replace("'", '"'), content_type="application/json"),
        "/second": page("The second page."),
        "/missing": page("It is not here.", status=404),
        "/hidden-text": page("vis\u202eible\x00 \U000e0041text", title="a\u202eb"),
        "/cookie": page("", set_cookie="who=me"),
        "/cookies": script("out.innerText = 'cookies: ' + document.cookie"),
        "/huge": page("x" * 1_000_000),
        "/to-secret": page("", status=302, location=f"{there}/secret"),
        "/to-other": page("", status=302, location=f"http://other.test:{port}/second"),
        "/loads-other": page(
            f"<p id=said>nothing</p><script>fetch('http://other.test:{port}/second', {{mode: 'no-cors'}})"
            ".then(() => said.textContent = 'loaded', () => said.textContent = 'refused')</script>"
        ),
        "/back-and-forth": page("", status=302, location="/back-and-forth"),
        "/redirects-to-file": page("", status=302, location="file:///etc/passwd"),
        "/no-content": page("", status=204),
        "/submits-inside": page(
            f"<form action='http://127.0.0.1:{secret}/secret' method=post></form>"
            "<script>document.forms[0].submit()</script>Stays."
        ),
        "/link-other": page(f"<a id=go href='http://other.test:{port}/second'>Other</a>"),
        "/reaches": script(
            f"""const tried = [];
            const done = (what) => {{ tried.push(what); out.innerText = tried.sort().join(' ');
                                      if (tried.length == 3) document.title = 'tried'; }};
            fetch('{there}/secret', {{mode: 'no-cors'}}).then(() => done('fetch!'), () => done('fetch-no'));
            const socket = new WebSocket('ws://127.0.0.1:{secret}/socket');
            socket.onopen = () => done('socket!'); socket.onerror = () => done('socket-no');
            const image = new Image(); image.onload = () => done('image!'); image.onerror = () => done('image-no');
            image.src = 'http://localhost:{secret}/secret.png';"""
        ),
        "/files": script(
            """const tried = [];
            const done = (what) => { tried.push(what); if (tried.length == 2) out.innerText = tried.join(' '); };
            fetch('file:///etc/passwd').then(() => done('fetch!'), () => done('no'));
            const image = new Image(); image.onload = () => done('image!'); image.onerror = () => done('no');
            image.src = 'file:///etc/hostname';"""
        ),
        "/to-file": script("location.href = 'file:///etc/passwd'; out.innerText = 'tried'"),
        "/popup": script(
            f"window.open('{here}/popped'); out.innerText = 'tried'",
            f"<a id=blank target=_blank href='{here}/popped'>New</a>",
        ),
        "/popped": page("A window that must not be."),
        "/dialog": script("alert('Pay now'); out.innerText = 'confirmed: ' + confirm('Sure?')"),
        "/leaving": script("addEventListener('beforeunload', e => e.preventDefault())"),
        "/download": page("<a id=get href=/file>Get</a>"),
        "/file": answer(b"\0\1\2", content_type="application/octet-stream", content_disposition="attachment"),
        "/worker": script(
            "navigator.serviceWorker.register('/worker.js')"
            ".then((one) => out.innerText = one ? 'registered' : 'refused', () => out.innerText = 'refused')"
        ),
        "/worker.js": answer("self.addEventListener('fetch', () => {})", content_type="text/javascript"),
        "/permission": script(
            "navigator.geolocation.getCurrentPosition(() => out.innerText = 'found', () => out.innerText = 'refused')"
        ),
        "/hang": page("<p>before</p><script>while (true) {}</script>"),
        "/liar": script(
            """for (const name of ['innerText', 'textContent', 'outerHTML'])
                 Object.defineProperty(Element.prototype, name, {get: () => 'a lie'});
               document.querySelectorAll = () => []; String.prototype.slice = () => 'a lie';""",
            "<p id=truth>The truth</p>",
        ),
        "/eats": script(
            "const kept = []; setInterval(() => { for (let i = 0; i < 20; i++)"
            " kept.push(new Uint8Array(10e6).fill(1)) }, 10)"
        ),
        "/tall": page(
            "<div id=box style='width:50px;height:40px;background:red'></div><div style='height:50000px'>"
        ),
    }
